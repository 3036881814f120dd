import type { ApiFailure } from "../../src/kube-api/failure";
import type { NodeApi } from "../../src/node-readiness/node-api";

let watching: typeof import("../../src/node-readiness/node-watch");
let pace: typeof watching.WATCH_PACE;
beforeAll(async () => {
  // Waits too go by the test's clock.
  jest.doMock("node:timers/promises", () => ({
    setTimeout: (ms: number, value: unknown, { signal }: { readonly signal: AbortSignal }) =>
      new Promise((resolve, reject) => {
        setTimeout(() => resolve(value), ms);
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  }));
  watching = await import("../../src/node-readiness/node-watch");
  pace = watching.WATCH_PACE;
});
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const NODE = { uid: "1", resourceVersion: "1", taints: [], conditions: [] };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** What becomes of each watch that the API server opens. */
interface Ending {
  readonly afterMs: number;
  readonly failure?: ApiFailure;
}

/** Opens watches that end so, for so long: how many, how far apart the last ones were, and how long they may last. */
async function watchesIn(ms: number, endingOf: (watch: number) => Ending, chance = 0.5) {
  const { startNodeWatch } = watching;
  const stop = new AbortController();
  const begun: number[] = [];
  let lastSeconds = 0;
  const { ended } = startNodeWatch({
    api: {
      getNode: async () => ({ kind: "done", value: NODE }),
      watchNode: async (...[{ onOpen, seconds }, signal]: Parameters<NodeApi["watchNode"]>) => {
        begun.push(performance.now());
        lastSeconds = seconds;
        const { afterMs, failure } = endingOf(begun.length);
        onOpen();
        let end = () => {};
        await new Promise<void>((resolve) => {
          end = resolve;
          setTimeout(end, afterMs);
          signal.addEventListener("abort", end);
        });
        signal.removeEventListener("abort", end);
        return failure;
      },
    } as never,
    node: { hear: () => {} },
    pace,
    signal: stop.signal,
    onHealth: () => {},
    random: () => chance,
  });
  await jest.advanceTimersByTimeAsync(ms);
  stop.abort();
  await jest.advanceTimersByTimeAsync(0);
  await ended;
  return { count: begun.length, lastPauseMs: (begun.at(-1) ?? 0) - (begun.at(-2) ?? 0), lastSeconds };
}

test.each<[string, Ending]>([
  ["end at once", { afterMs: 0 }],
  ["tell an error at once", { afterMs: 0, failure: { kind: "unexpected", message: "etcd is away" } }],
  ["have expired at once", { afterMs: 0, failure: { kind: "expired", message: "too old" } }],
  ["break at once", { afterMs: 0, failure: { kind: "unreachable", message: "ECONNRESET" } }],
  ["end after some seconds", { afterMs: 5_000 }],
])("watches that %s are begun again at growing distances", async (_what, ending) => {
  const { count, lastPauseMs } = await watchesIn(10 * MINUTE_MS, () => ending);
  expect(count).toBeLessThan(50);
  expect(lastPauseMs).toBeGreaterThanOrEqual(pace.retry.maxMs / 2);
});

test("a watch that ended on time is followed soon, and waits are short again after a long one", async () => {
  const { lastPauseMs } = await watchesIn(30 * MINUTE_MS, () => ({ afterMs: MINUTE_MS }));
  expect(lastPauseMs).toBe(MINUTE_MS + pace.spreadMs / 2);
  const after = await watchesIn(10 * MINUTE_MS, (watch) => ({ afterMs: watch === 20 ? MINUTE_MS : 0 }));
  const short = await watchesIn(10 * MINUTE_MS, () => ({ afterMs: 0 }));
  expect(after.count).toBeGreaterThan(short.count);
});

test("nodes whose watches end in one moment come back spread over seconds, and those watches end spread over half an hour", async () => {
  const ending = { afterMs: 10 * MINUTE_MS };
  const [first, last] = [
    await watchesIn(HOUR_MS, () => ending, 0),
    await watchesIn(HOUR_MS, () => ending, 1),
  ];
  expect(last.lastPauseMs - first.lastPauseMs).toBe(pace.spreadMs);
  expect(last.lastSeconds - first.lastSeconds).toBe(1_800);
  const away = (chance: number) => watchesIn(HOUR_MS, () => ({ afterMs: 0 }), chance);
  const apartMs = (await away(0)).lastPauseMs - (await away(1)).lastPauseMs;
  expect(apartMs).toBe(pace.retry.maxMs - pace.spreadMs);
});
