import { type Backoff, backoffMs } from "../base/backoff";
import { createWakeUp } from "../base/pause";
import { retryMs } from "../kube-api/failure";
import type { KnownNode } from "./known-node";
import { done, type NodeAnswer, type NodeApi, type NodeView } from "./node-api";

export const WATCH_PACE = {
  /** After failures, and after watches that did not last. */
  retry: { initialMs: 1_000, maxMs: 30_000, jitter: 1 } as Backoff,
  /** A watch lasts from half of this to all of it. Its start costs the server more than an hour without events. */
  lastsMs: 60 * 60_000,
  /** A watch that ended is restarted within this time: an API server that stops ends all of them at once. */
  spreadMs: 5_000,
  /** A watch that receives nothing, not even the bookmark of each minute, ends after this time. */
  silentMs: 5 * 60_000,
};

/** After a watch that lasted this long the next one starts without a growing wait. */
const GOOD_WATCH_MS = 30_000;

interface NodeWatchContext {
  readonly api: NodeApi;
  readonly node: Pick<KnownNode, "hear">;
  readonly pace: typeof WATCH_PACE;
  readonly signal: AbortSignal;
  readonly onHealth: (answer: NodeAnswer<undefined>) => void;
  readonly random?: () => number;
}

/**
 * Keeps what is known of the Node up to date: one read, then watches, each from where the last one ended. It reads again after a 410, a refusal,
 * and a watch that stayed silent: the API server accepts a watch from a version that it will only reach in days.
 */
export function startNodeWatch(context: NodeWatchContext) {
  const { api, node, pace, signal, onHealth, random = Math.random } = context;
  let resourceVersion: string | undefined;
  let attempt = 0;
  let endWait = () => {};

  const wait = async (ms: number) => {
    const pause = createWakeUp();
    endWait = pause.call;
    await pause.wait(signal, ms);
  };

  const read = async (): Promise<NodeAnswer<NodeView>> => {
    const got = await api.getNode(signal);
    if (got.kind === "done") {
      resourceVersion = got.value.resourceVersion;
      node.hear({ kind: "read", node: got.value });
    } else if (got.failure.kind === "not-found") node.hear({ kind: "read", node: undefined });
    return got;
  };

  const watch = async (from: string): Promise<NodeAnswer<undefined>> => {
    let openedAtMs: number | undefined;
    const onOpen = () => {
      openedAtMs = performance.now();
      onHealth(done(undefined));
    };
    const onVersion = (version: string, changed: NodeView | null | undefined) => {
      resourceVersion = version;
      if (changed !== undefined) node.hear({ kind: "watched", node: changed ?? undefined });
    };
    const seconds = Math.ceil((pace.lastsMs / 2000) * (1 + random()));
    const times = { resourceVersion: from, seconds, silentMs: pace.silentMs };
    const failure = await api.watchNode({ ...times, onOpen, onVersion }, signal);
    const openMs = openedAtMs === undefined ? undefined : performance.now() - openedAtMs;
    const isGood = openMs !== undefined && openMs >= GOOD_WATCH_MS;
    if (isGood) attempt = 0;
    const wasSilent = resourceVersion === from && openMs !== undefined && openMs >= pace.silentMs / 2;
    if (wasSilent || (failure !== undefined && failure.kind !== "unreachable")) resourceVersion = undefined;
    // A connection that broke is not a failure yet: the next attempt will show.
    const hasBroken = openMs !== undefined && failure?.kind === "unreachable";
    if (failure !== undefined && failure.kind !== "expired" && !hasBroken)
      return { kind: "failed", doing: "watching the Node", failure };
    const more = isGood ? 0 : backoffMs(pace.retry, attempt++, random);
    await wait(pace.spreadMs * random() + more);
    return done(undefined);
  };

  const run = async () => {
    while (!signal.aborted) {
      const answer = await (resourceVersion === undefined ? read() : watch(resourceVersion));
      if (answer.kind === "done" || signal.aborted) continue;
      onHealth(answer);
      await wait(retryMs(answer.failure, attempt, pace.retry, random));
      attempt += 1;
    }
  };
  return {
    /** Ends a wait after a failure, because the API server answered another request. */
    hurry: () => endWait(),
    /** Resolves, never rejects, when `signal` has ended the watch. */
    ended: run(),
  };
}
