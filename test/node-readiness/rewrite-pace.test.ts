import { createRewritePace, type Written } from "../../src/node-readiness/rewrite-pace";

const BACKOFF = { initialMs: 10, maxMs: 100 };
const READY: Written = { type: "x/Ready", status: "True", reason: "Registered", uid: "u" };

/** A pace at which the same was written so often, always at the time 0. */
function paceAfter(writes: number) {
  const pace = createRewritePace(BACKOFF);
  const answers = Array.from({ length: writes }, () => pace.wrote(READY, 0));
  return { pace, answers };
}

test("what was never written is not held back", () => {
  expect(createRewritePace(BACKOFF).waitMs(READY, 5)).toBeLessThanOrEqual(0);
});

test("three times the same is written again at once; then the waits grow to the longest", () => {
  const waits = [1, 2, 3, 4, 5, 6, 9].map((writes) => paceAfter(writes).pace.waitMs(READY, 0));
  expect(waits).toEqual([0, 0, 0, 10, 20, 40, 100]);
  expect(paceAfter(4).pace.waitMs(READY, 7)).toBe(3);
});

test("that there are waits from now on is told once", () => {
  expect(paceAfter(6).answers).toEqual([false, false, false, true, false, false]);
  const { pace } = paceAfter(4);
  expect(pace.wrote({ ...READY, reason: "Other" }, 0)).toBe(false);
});

test.each<Partial<Written>>([{ uid: "v" }, { status: "False" }, { reason: "Other" }, { type: "x/Other" }])(
  "what is new is not held back: %j",
  (change) => {
    const { pace } = paceAfter(4);
    expect(pace.waitMs({ ...READY, ...change }, 0)).toBe(0);
    expect(pace.waitMs(READY, 0)).toBe(10);
  },
);

test("peace for more than twice the longest wait makes all waits short again", () => {
  const { pace: shorter } = paceAfter(5);
  shorter.wrote(READY, 200);
  expect(shorter.waitMs(READY, 200)).toBe(40);
  shorter.wrote(READY, 300);
  expect(shorter.waitMs(READY, 300)).toBe(80);
  const { pace: longer } = paceAfter(5);
  longer.wrote(READY, 201);
  expect(longer.waitMs(READY, 201)).toBe(0);
});
