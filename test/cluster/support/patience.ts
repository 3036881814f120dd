import { setTimeout as delay } from "node:timers/promises";

export interface Patience {
  /** What is waited for, for the error. */
  readonly what: string;
  /** How long at most; 60 s by default. */
  readonly limitMs?: number;
  /** The pause between two tries; 100 ms by default. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/** Repeats `attempt` until it does not throw; rejects with its last error once the limit is reached. */
export async function until<Value>(
  attempt: () => Value | Promise<Value>,
  { what, limitMs = 60_000, everyMs = 100, signal }: Patience,
): Promise<Value> {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (cause) {
      if (performance.now() > giveUpAt) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${what}: not within ${limitMs / 1000} s: ${reason}`, { cause });
      }
      await delay(everyMs);
    }
  }
}
