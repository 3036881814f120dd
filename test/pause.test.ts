import { hintOrPause, pause } from "../src/pause";
import { expectNothingLeft } from "./support/resources";

const never = new AbortController().signal;

test("a pause tells whether it was waited for to its end", async () => {
  expect(await pause(1, never)).toBe(true);
  expect(await pause(60_000, AbortSignal.abort())).toBe(false);
});

test("a pause longer than a timer can wait is not over at once", async () => {
  const stop = new AbortController();
  const waiting = pause(Number.MAX_SAFE_INTEGER, stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  expect(await waiting).toBe(false);
});

describe("hintOrPause", () => {
  const noHint = new Promise<void>(() => {});

  test("tells the hint from the pause", async () => {
    expect(await hintOrPause(Promise.resolve(), 60_000, never)).toBe(true);
    expect(await hintOrPause(noHint, 1, never)).toBe(false);
  });

  test.each([
    ["before", (stop: AbortController) => stop.abort(), () => {}],
    ["meanwhile", () => {}, (stop: AbortController) => stop.abort()],
  ])("waits for nothing when the signal is aborted %s", (_when, before, meanwhile) =>
    expectNothingLeft(async () => {
      const stop = new AbortController();
      before(stop);
      const waiting = hintOrPause(noHint, 60_000, stop.signal);
      meanwhile(stop);
      expect(await waiting).toBe(false);
    }),
  );

  test("leaves no timer behind a hint", () =>
    expectNothingLeft(async () => {
      await hintOrPause(Promise.resolve(), 60_000, never);
    }));
});
