import { setTimeout as delay } from "node:timers/promises";
import { PATIENCE_MS } from "./history";

/** Repeats `expectation` until it does not throw; fails with its last error. For what has no event to wait for. */
export async function eventually<Value>(expectation: () => Value | Promise<Value>): Promise<Value> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await delay(5);
    }
  }
}
