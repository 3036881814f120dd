import { setTimeout as delay } from "node:timers/promises";

/** Well below jest's own limit, so that what fails is the expectation and not the test's time. */
const GIVE_UP_AFTER_MS = 15_000;

/** Repeats `expectation` until it does not throw; fails with its last error. For what has no event to wait for. */
export async function eventually<Value>(expectation: () => Value | Promise<Value>): Promise<Value> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await delay(5);
    }
  }
}
