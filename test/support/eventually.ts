import { setTimeout as delay } from "node:timers/promises";
import { PATIENCE_MS } from "./history";

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Repeats `expectation` until it does not throw; fails with its last error. For what has no event to wait for. The longer
 * it takes, the rarer it looks: a wait must not cost what it waits for its processor.
 */
export async function eventually<Value>(expectation: () => Value | Promise<Value>): Promise<Value> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await expectation();
    } catch (error) {
      const waited = performance.now() - startedAt;
      if (waited > PATIENCE_MS) throw error;
      await delay(Math.min(Math.max(SHORTEST_PAUSE_MS, waited / 10), LONGEST_PAUSE_MS));
    }
  }
}
