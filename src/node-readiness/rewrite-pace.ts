import { type Backoff, backoffMs } from "../base/backoff";

/**
 * Two writers that undo each other: how long to leave alone what somebody else keeps changing. Times are milliseconds
 * since the epoch.
 */
export interface RewritePace {
  /** How long to wait before the same value is written to `name` again; 0 for another value. */
  waitMs(name: string, value: string, now: number): number;
  /** Notes that it was written. Answers whether the waits begin with this write. */
  wrote(name: string, value: string, now: number): boolean;
}

interface Memory {
  readonly value: string;
  readonly at: number;
  /** How often a value was written that had been written before. */
  readonly rewrites: number;
  readonly notBefore: number;
}

/**
 * Makes a pace. The same value is rewritten at once `freeRewrites` times, then after growing waits. A new value, and a
 * write after twice the longest wait without one, waits for nothing.
 */
export function createRewritePace(
  backoff: Backoff,
  {
    freeRewrites = 3,
    random = Math.random,
  }: { readonly freeRewrites?: number; readonly random?: () => number } = {},
): RewritePace {
  const memories = new Map<string, Memory>();
  return {
    waitMs: (name, value, now) => {
      const memory = memories.get(name);
      return memory?.value === value ? Math.max(0, memory.notBefore - now) : 0;
    },
    wrote: (name, value, now) => {
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
