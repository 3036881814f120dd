import { createRewritePace } from "../../src/node-readiness/keeper";

const MAX_MS = 30_000;
const VALUE = ["a.csi/Registered", "True"] as const;

test("writes of a value that another client changes wait, until twice the longest wait has passed without one", () => {
  const pace = createRewritePace({ initialMs: 1_000, maxMs: MAX_MS }, { random: () => 0 });
  expect([0, 1, 2, 3].map((ms) => pace.wrote(...VALUE, ms))).toEqual([false, false, false, true]);
  expect(pace.waitMs(...VALUE, 3)).toBeGreaterThan(0);
  const next = 3 + 2 * MAX_MS;
  pace.wrote(...VALUE, next);
  expect(pace.waitMs(...VALUE, next)).toBeGreaterThan(0);
  const much = next + 2 * MAX_MS + 1;
  pace.wrote(...VALUE, much);
  expect(pace.waitMs(...VALUE, much)).toBe(0);
});
