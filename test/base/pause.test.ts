import { getEventListeners } from "node:events";
import { createWakeUp, pause, unlessAborted } from "../../src/base/pause";
import { expectNothingLeft } from "../support/resources";

const never = new AbortController().signal;

test("a pause resolves with whether it lasted its whole time", async () => {
  expect(await pause(1, never)).toBe(true);
  expect(await pause(60_000, AbortSignal.abort())).toBe(false);
  expect(getEventListeners(never, "abort")).toEqual([]);
});

test("a pause longer than a timer's maximum does not end at once", async () => {
  const stop = new AbortController();
  const waiting = pause(Number.MAX_SAFE_INTEGER, stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort();
  expect(await waiting).toBe(false);
});

test("a promise is awaited until the signal is aborted, and its listener goes with the wait", async () => {
  const stop = new AbortController();
  const open = new Promise<string>(() => {});
  expect(await unlessAborted(Promise.resolve("value"), stop.signal)).toBe("value");
  await expect(unlessAborted(Promise.reject(new Error("why")), stop.signal)).rejects.toThrow("why");
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
  const waiting = unlessAborted(open, stop.signal);
  stop.abort();
  expect(await waiting).toBeUndefined();
  expect(await unlessAborted(open, stop.signal)).toBeUndefined();
});

describe("a wake-up", () => {
  const called = () => {
    const wakeUp = createWakeUp();
    wakeUp.call();
    return wakeUp;
  };

  test("a wake-up keeps one call for the next wait, and distinguishes it from the end of the time", async () => {
    const wakeUp = called();
    expect(await wakeUp.wait(never, 60_000)).toBe(true);
    expect(await wakeUp.wait(never, 1)).toBe(false);
  });

  test.each(["before", "meanwhile"])("a wake-up does not wait when the signal is aborted %s", (when) =>
    expectNothingLeft(async () => {
      const stop = new AbortController();
      if (when === "before") stop.abort();
      const waiting = createWakeUp().wait(stop.signal, 60_000);
      stop.abort();
      expect(await waiting).toBe(false);
    }),
  );

  test("a wake-up leaves no listener at its signal, and no timer after a call", () =>
    expectNothingLeft(async () => {
      const { signal } = new AbortController();
      const wakeUp = createWakeUp();
      const waiting = wakeUp.wait(signal, 60_000);
      wakeUp.call();
      await waiting;
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }));
});
