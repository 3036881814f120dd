import * as timers from "node:timers";
import * as promises from "node:timers/promises";

/**
 * Kept at the import, because the fake timers that a test runner puts in their place must not stop a registration. Those of
 * jest and vitest, which take the globals, may be there before.
 */
export const { setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: startImmediate } = timers;
/** An interval costs half as much as a wait with a signal. */
export const { setInterval: startInterval, clearInterval: stopInterval } = timers;
const { nextTick } = process;
export const monotonicMs = performance.now.bind(performance);
export const { setTimeout: delay } = promises;

/** The end of a sentence about a call that took too long: what gRPC needs, if fake timers are in its place. */
export const fakeTimersHint = (): string =>
  setImmediate === startImmediate && process.nextTick === nextTick
    ? ""
    : ", with fake timers: gRPC needs the real process.nextTick and setImmediate, see docs/testing.md";

/** The longest wait of a Node timer, in milliseconds: 24 days. A longer one would fire at once. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Waits, not at all for 0 or less. True when the time is over, false if `signal` was aborted. Never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms <= 0) return !signal.aborted;
  return delay(Math.min(ms, LONGEST_WAIT_MS), true, { signal }).catch(() => false);
}

/** A controller that aborts with `parent` until it is disposed of. `AbortSignal.any` leaks: `parent` lives as long as we do. */
export function followSignal(parent: AbortSignal): AbortController & Disposable {
  const controller = new AbortController();
  const abort = () => controller.abort(parent.reason);
  if (parent.aborted) abort();
  parent.addEventListener("abort", abort);
  return Object.assign(controller, { [Symbol.dispose]: () => parent.removeEventListener("abort", abort) });
}

/** What a promise resolves with; undefined if `signal` is aborted before. Rejects if the promise does. */
export async function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  using following = followSignal(signal);
  const aborted = new Promise<undefined>((resolve) => {
    if (following.signal.aborted) resolve(undefined);
    following.signal.addEventListener("abort", () => resolve(undefined));
  });
  return await Promise.race([promise, aborted]);
}

/** Makes what wakes one waiting loop. A call between two waits ends the next one. */
export function createWakeUp() {
  let isCalled = false;
  let wake = () => {};
  return {
    call: (): void => {
      isCalled = true;
      wake();
    },
    /** Waits for a call, however long. Does not keep the process alive. */
    called: async (): Promise<void> => {
      if (!isCalled)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isCalled = false;
    },
    /** Waits for a call, `limitMs`, or `signal`, whichever comes first. Whether it was a call. Never rejects. */
    wait: async (signal: AbortSignal, limitMs = LONGEST_WAIT_MS): Promise<boolean> => {
      if (signal.aborted) return false;
      if (!isCalled) {
        using waiting = followSignal(signal);
        wake = () => waiting.abort();
        await pause(limitMs, waiting.signal);
      }
      const wasCalled = isCalled;
      isCalled = false;
      return wasCalled;
    },
  };
}
