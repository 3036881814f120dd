import { type Backoff, backoffMs } from "../base/backoff";
import { createWakeUp } from "../base/pause";
import type { ApiFailure } from "./api/failure";
import { isOlder, type NodeView } from "./api/node";
import type { NodeApi, WatchEvent } from "./api/node-api";

/** When to do what; milliseconds. */
export interface WatchPace {
  /** After failures, and after watches that did not last. */
  readonly retry: Backoff;
  /**
   * A watch lasts from half of this to all of it: they must not end together, and each start costs the server more than
   * an hour of a watch in which nothing happens.
   */
  readonly lastsMs: number;
  /** A watch that ended is begun anew within this: an API server that stops ends all of them in one moment. */
  readonly spreadMs: number;
}

export const WATCH_PACE: WatchPace = {
  retry: { initialMs: 1_000, maxMs: 30_000, jitter: 1 },
  lastsMs: 60 * 60_000,
  spreadMs: 5_000,
};

/** A watch that lasted so long was a good one; until there was one, each that ends is begun anew ever more slowly. */
const GOOD_WATCH_MS = 30_000;

/** The Node as it was last seen. */
export interface NodeStore {
  /** Undefined while none was seen, or it is deleted. */
  readonly node: NodeView | undefined;
  /** Takes a view of the Node, unless it is older than what is known. */
  see(node: NodeView): void;
  forget(): void;
}

/** Makes an empty store; `onChange` is called when another Node, or another state of it, is seen. */
export function createNodeStore(onChange: () => void): NodeStore {
  let node: NodeView | undefined;
  return {
    get node() {
      return node;
    },
    see: (seen) => {
      if (node !== undefined && (isOlder(seen, node) || seen.resourceVersion === node.resourceVersion))
        return;
      node = seen;
      onChange();
    },
    forget: () => {
      if (node === undefined) return;
      node = undefined;
      onChange();
    },
  };
}

/** What a watch needs. */
export interface NodeWatchContext {
  readonly api: NodeApi;
  readonly store: NodeStore;
  readonly pace: WatchPace;
  readonly signal: AbortSignal;
  /** Called with each failure, and with undefined after each good answer of the API server. */
  readonly onHealth: (failure: ApiFailure | undefined) => void;
  readonly random?: () => number;
}

/** A watch at work. */
export interface NodeWatch {
  /** Ends a wait after a failure, because another call was answered. */
  hurry(): void;
  /** Resolves, never rejects, when `signal` has ended it. */
  readonly ended: Promise<void>;
}

/**
 * Keeps the store up to date for as long as `signal` lets it: one read, then watches, each from where the former ended;
 * a new read only where the API server has forgotten how it was then (410), or refuses something.
 */
export function startNodeWatch(context: NodeWatchContext): NodeWatch {
  const { api, store, pace, signal, onHealth, random = Math.random } = context;
  let resourceVersion: string | undefined;
  let attempt = 0;
  let endWait = () => {};

  const wait = async (ms: number) => {
    const pause = createWakeUp();
    endWait = pause.call;
    await pause.wait(signal, ms);
    endWait = () => {};
  };

  const read = async (): Promise<ApiFailure | undefined> => {
    const got = await api.getNode(signal);
    if (got.kind === "failed") {
      if (got.failure.kind === "not-found") store.forget();
      return got.failure;
    }
    resourceVersion = got.value.resourceVersion;
    store.see(got.value);
    return undefined;
  };

  /** How long it was open, undefined where it never was, and what ended it. */
  const watch = async (from: string) => {
    let openedAtMs: number | undefined;
    let told: ApiFailure | undefined;
    const onEvent = (event: WatchEvent) => {
      switch (event.kind) {
        case "opened":
          openedAtMs = performance.now();
          return onHealth(undefined);
        case "seen":
          resourceVersion = event.node.resourceVersion;
          return store.see(event.node);
        case "deleted":
          resourceVersion = event.resourceVersion;
          return store.forget();
        case "bookmark":
          resourceVersion = event.resourceVersion;
          return;
        case "error":
          told = event.failure;
          return;
        default:
          return event satisfies never;
      }
    };
    const seconds = Math.ceil((pace.lastsMs / 2000) * (1 + random()));
    const failure = await api.watchNode({ resourceVersion: from, seconds }, signal, onEvent);
    const openMs = openedAtMs === undefined ? undefined : performance.now() - openedAtMs;
    return { openMs, failure: told ?? failure };
  };

  /** One read or watch: the failure that is worth a word and a longer wait. */
  const step = async (): Promise<ApiFailure | undefined> => {
    if (resourceVersion === undefined) return read();
    const { openMs, failure } = await watch(resourceVersion);
    const isGood = openMs !== undefined && openMs >= GOOD_WATCH_MS;
    if (isGood) attempt = 0;
    if (failure !== undefined && failure.kind !== "unreachable") resourceVersion = undefined;
    // A connection that broke is no failure yet: the next attempt tells.
    const hasBroken = openMs !== undefined && failure?.kind === "unreachable";
    const isUsual = failure === undefined || failure.kind === "expired" || hasBroken;
    if (isUsual && !signal.aborted) {
      const more = isGood ? 0 : backoffMs(pace.retry, attempt++, random);
      await wait(pace.spreadMs * random() + more);
    }
    return isUsual ? undefined : failure;
  };

  const run = async () => {
    while (!signal.aborted) {
      const failure = await step();
      if (failure === undefined || signal.aborted) continue;
      onHealth(failure);
      const askedFor = failure.kind === "unavailable" ? (failure.retryAfterMs ?? 0) : 0;
      await wait(askedFor + backoffMs(pace.retry, attempt, random));
      attempt += 1;
    }
  };
  return { hurry: () => endWait(), ended: run() };
}
