import { setTimeout as delay } from "node:timers/promises";
import { PATIENCE_MS } from "./history";

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Repeats `attempt` until it does not throw. Once `limitMs` have passed it rejects with the last error and `what` it waited
 * for. For what has no event to wait for. The longer it takes, the rarer it looks: a wait must not cost what it waits for
 * its processor.
 */
export async function eventually<Value>(
  attempt: () => Value | Promise<Value>,
  { what = String(attempt), limitMs = PATIENCE_MS } = {},
): Promise<Value> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (cause) {
      const waitedMs = performance.now() - startedAt;
      if (waitedMs > limitMs) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${what}: not within ${limitMs / 1_000} s: ${reason}`, { cause });
      }
      await delay(Math.min(Math.max(SHORTEST_PAUSE_MS, waitedMs / 10), LONGEST_PAUSE_MS));
    }
  }
}
