import { eventually } from "./eventually";

/** A wait until a moment is shorter by what has passed since that was set. */
const BEGUN_MS = 1_000;

/**
 * A stand-in for `node:timers/promises` and for intervals of `node:timers`, for modules imported from now on. Waits of `fromMs`
 * and more are ended by hand.
 */
export function controlWaits({ fromMs = 2_500 } = {}) {
  const held: { readonly ms: number; readonly end: () => void }[] = [];
  jest.resetModules();
  jest.doMock("node:timers/promises", () => {
    const real = jest.requireActual<typeof import("node:timers/promises")>("node:timers/promises");
    const wait: typeof real.setTimeout = (ms = 0, value, options = {}) => {
      if (ms < fromMs) return real.setTimeout(ms, value, options);
      return new Promise((resolve, reject) => {
        const { signal } = options;
        const drop = () => held.splice(held.indexOf(entry), 1);
        const abort = () => {
          drop();
          reject(signal?.reason);
        };
        const entry = {
          ms,
          end: () => {
            drop();
            signal?.removeEventListener("abort", abort);
            resolve(value as never);
          },
        };
        held.push(entry);
        if (signal?.aborted) abort();
        else signal?.addEventListener("abort", abort, { once: true });
      });
    };
    return { ...real, setTimeout: wait };
  });
  jest.doMock("node:timers", () => ({
    ...jest.requireActual("node:timers"),
    setInterval: (call: () => void, ms: number) => {
      const end = () => {
        held.push(...held.splice(held.indexOf(entry), 1)); // Behind the others of its length.
        call();
      };
      const entry = { ms, end };
      held.push(entry);
      return entry;
    },
    clearInterval: (entry: (typeof held)[number]) => held.splice(held.indexOf(entry), 1),
  }));
  return {
    pending: (): readonly number[] => held.map(({ ms }) => ms),
    /** Ends one wait of `ms`, as soon as there is one; some of it may have passed when it began. */
    end: (ms: number) =>
      eventually(() => {
        const entry = held.find((one) => one.ms <= ms && one.ms > ms - BEGUN_MS);
        if (!entry) throw new Error(`nobody waits for ${ms} ms, only for ${held.map((one) => one.ms)}`);
        entry.end();
      }),
  };
}
