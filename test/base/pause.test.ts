import { getEventListeners } from "node:events";
import { createWakeUp, fakeTimersHint, pause, unlessAborted } from "../../src/base/pause";
import { expectNothingLeft } from "../support/resources";

const never = new AbortController().signal;

test("a pause resolves with whether it lasted its whole time", async () => {
  expect(await pause(1, never)).toBe(true);
  expect(await pause(60_000, AbortSignal.abort())).toBe(false);
  expect(getEventListeners(never, "abort")).toEqual([]);
});

test("a pause of nothing takes no timer", async () => {
  const ends: boolean[] = [];
  for (const ms of [0, -1])
    for (const signal of [never, AbortSignal.abort()]) void pause(ms, signal).then((end) => ends.push(end));
  // No timer fires meanwhile.
  for (let microtask = 0; microtask < 9; microtask++) await undefined;
  expect(ends).toEqual([true, false, true, false]);
});

test("a call that took too long says so where fake timers are in the place of what gRPC needs", () => {
  expect(fakeTimersHint()).toBe("");
  for (const fake of [() => jest.spyOn(globalThis, "setImmediate"), () => jest.spyOn(process, "nextTick")]) {
    const spy = fake();
    expect(fakeTimersHint()).toBe(
      ", with fake timers: gRPC needs the real process.nextTick and setImmediate, see docs/testing.md",
    );
    spy.mockRestore();
  }
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
  const later = new Promise((resolve) => setImmediate(resolve, "value"));
  expect(await unlessAborted(later, stop.signal)).toBe("value");
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
    expect(await called().wait(AbortSignal.abort(), 60_000)).toBe(false);
  });

  test("a call ends one wait without a limit", async () => {
    const wakeUp = called();
    await wakeUp.called();
    let isOver = false;
    const waiting = wakeUp.called().then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    wakeUp.call();
    await waiting;
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
      await new Promise(setImmediate); // It waits.
      wakeUp.call();
      expect(await waiting).toBe(true);
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }));
});
