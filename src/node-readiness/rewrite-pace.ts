import { type Backoff, backoffMs } from "../backoff";

/** What was written, of which a repetition means that somebody changed it. */
export interface Written {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  /** Of the Node. */
  readonly uid: string;
}

/** Tells how long to leave alone what somebody else changes again and again. Times are milliseconds since the epoch. */
export interface RewritePace {
  /** How long to wait before this is written; 0 or less for not at all. */
  waitMs(wanted: Written, now: number): number;
  /** It has been written. Answers whether from now on there are waits, where there were none. */
  wrote(written: Written, now: number): boolean;
}

/** So often the same is written again at once. */
const FREE_REWRITES = 3;

interface Memory {
  readonly last: Written;
  readonly at: number;
  /** How often something was written that had been written before. */
  readonly rewrites: number;
  /** The same is not written again before. */
  readonly notBefore: number;
}

/**
 * Makes a pace at which nothing was written yet. What is new is never held back: the Node is another one, or what we have
 * to say is. Peace that lasts for twice the longest wait makes all waits short again.
 */
export function createRewritePace(backoff: Backoff, random: () => number = Math.random): RewritePace {
  const memories = new Map<string, Memory>();

  const repeats = (memory: Memory | undefined, { uid, status, reason }: Written): memory is Memory =>
    memory?.last.uid === uid && memory.last.status === status && memory.last.reason === reason;

  return {
    waitMs: (wanted, now) => {
      const memory = memories.get(wanted.type);
      return repeats(memory, wanted) ? memory.notBefore - now : 0;
    },
    wrote: (written, now) => {
      const memory = memories.get(written.type);
      const isPeace = memory === undefined || now - memory.at > 2 * backoff.maxMs;
      const before = isPeace ? 0 : memory.rewrites;
      const rewrites = before + (repeats(memory, written) ? 1 : 0);
      const beyond = rewrites - FREE_REWRITES;
      const notBefore = beyond < 0 ? now : now + backoffMs(backoff, beyond, random);
      memories.set(written.type, { last: written, at: now, rewrites, notBefore });
      return beyond === 0 && before < rewrites;
    },
  };
}
