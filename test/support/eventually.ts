import { setTimeout as delay } from "node:timers/promises";
import { PATIENCE_MS } from "./history";

const now = performance.now.bind(performance); // Not the clock that a test has stopped.
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/** Repeats `attempt` until it does not throw, for what has no event to wait for; ever rarer, because looking costs, too. */
export async function eventually<Value>(
  attempt: () => Value | Promise<Value>,
  { what = String(attempt), limitMs = PATIENCE_MS } = {},
): Promise<Value> {
  const startedAt = now();
  for (;;) {
    try {
      return await attempt();
    } catch (cause) {
      const waitedMs = now() - startedAt;
      if (waitedMs > limitMs) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${what}: not within ${limitMs / 1_000} s: ${reason}`, { cause });
      }
      await delay(Math.min(Math.max(SHORTEST_PAUSE_MS, waitedMs / 10), LONGEST_PAUSE_MS));
    }
  }
}
