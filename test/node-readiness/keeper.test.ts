import { createRewritePace } from "../../src/node-readiness/keeper";

const BACKOFF = { initialMs: 10, maxMs: 100 };
const [NAME, VALUE] = ["x/Ready", "True Registered"];

/** A pace at which the same was written so often, always at the time 0. */
function paceAfter(writes: number) {
  const pace = createRewritePace(BACKOFF);
  const answers = Array.from({ length: writes }, () => pace.wrote(NAME, VALUE, 0));
  return { pace, answers };
}

test("three times the same is written again at once; then the waits grow to the longest", () => {
  const waits = [1, 2, 3, 4, 5, 6, 9].map((writes) => paceAfter(writes).pace.waitMs(NAME, VALUE, 0));
  expect(waits).toEqual([0, 0, 0, 10, 20, 40, 100]);
  expect(paceAfter(4).pace.waitMs(NAME, VALUE, 7)).toBe(3);
  expect(paceAfter(4).pace.waitMs(NAME, VALUE, 11)).toBe(0);
});

test("that there are waits from now on is told once", () => {
  expect(paceAfter(6).answers).toEqual([false, false, false, true, false, false]);
  const { pace } = paceAfter(4);
  expect(pace.wrote(NAME, "False Other", 0)).toBe(false);
});

test.each([
  [NAME, "False Other"],
  ["x/Other", VALUE],
])("what is new is not held back: %s %s", (name, value) => {
  const { pace } = paceAfter(4);
  expect(pace.waitMs(name, value, 0)).toBe(0);
  expect(pace.waitMs(NAME, VALUE, 0)).toBe(10);
});

test("peace for more than twice the longest wait makes all waits short again", () => {
  const { pace: shorter } = paceAfter(5);
  shorter.wrote(NAME, VALUE, 200);
  expect(shorter.waitMs(NAME, VALUE, 200)).toBe(40);
  shorter.wrote(NAME, VALUE, 300);
  expect(shorter.waitMs(NAME, VALUE, 300)).toBe(80);
  const { pace: longer } = paceAfter(5);
  longer.wrote(NAME, VALUE, 201);
  expect(longer.waitMs(NAME, VALUE, 201)).toBe(0);
});
