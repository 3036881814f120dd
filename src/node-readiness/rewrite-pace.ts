import { type Backoff, backoffMs } from "../base/backoff";

interface Memory {
  readonly value: string;
  readonly at: number;
  /** How often a value was written that had been written before. */
  readonly rewrites: number;
  readonly notBefore: number;
}

/**
 * How long to wait, in milliseconds, before a value is written that another client keeps changing: the same value is
 * rewritten at once `freeRewrites` times. Twice the longest wait without a write ends the waits.
 */
export function createRewritePace(backoff: Backoff, { freeRewrites = 3, random = Math.random } = {}) {
  const memories = new Map<string, Memory>();
  return {
    waitMs: (name: string, value: string, now: number): number => {
      const memory = memories.get(name);
      return memory?.value === value ? Math.max(0, memory.notBefore - now) : 0;
    },
    /** Records a write. Returns whether the waits begin with it. */
    wrote: (name: string, value: string, now: number): boolean => {
      for (const [known, { at }] of memories) if (now - at > 2 * backoff.maxMs) memories.delete(known);
      const memory = memories.get(name);
      const before = memory?.rewrites ?? 0;
      const rewrites = before + (memory?.value === value ? 1 : 0);
      const beyond = rewrites - freeRewrites;
      const notBefore = beyond < 0 ? now : now + backoffMs(backoff, beyond, random);
      memories.set(name, { value, at: now, rewrites, notBefore });
      return beyond === 0 && before < rewrites;
    },
  };
}
