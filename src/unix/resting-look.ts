import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../base/errors";
import { pause } from "../base/pause";
import { mountAt } from "./file-calls";
import { isLocal } from "./mounts";

/** In milliseconds: as late as this a change is noticed that has no event, or whose event is lost. */
const LOOK_EVERY_MS = 5_000;

/** What a look has seen so far, so that it sees each directory once. */
type Looked = Map<string, Stats | "gone" | undefined>;

/** A directory that is looked at, and what the last look saw. */
interface Resting {
  readonly directory: string;
  readonly onChange: () => void;
  seen: string | undefined;
  /** Whether two looks in a row saw the same: a directory that has just changed can change again without another ctime. */
  isSettled: boolean;
}

/** All of this process: one timer for every directory of every driver. */
const resting = new Set<Resting>();
const looking = { stop: new AbortController() };

/**
 * The net under inotify: calls `onChange` within 5 s after a directory, or an entry of it, was made, removed or replaced,
 * or its mode or owner changed, and every 5 s where a look could hang. The function returned ends that.
 */
export function lookAtRest(directory: string, onChange: () => void): () => void {
  const one: Resting = { directory, onChange, seen: signOf(directory, new Map()), isSettled: false };
  if (resting.size === 0) {
    looking.stop = new AbortController();
    lookUntil(looking.stop.signal).catch(() => {}); // It never rejects.
  }
  resting.add(one);
  return () => {
    resting.delete(one);
    if (resting.size === 0) looking.stop.abort();
  };
}

async function lookUntil(signal: AbortSignal): Promise<void> {
  while (await pause(LOOK_EVERY_MS, signal)) {
    const looked: Looked = new Map();
    for (const one of [...resting]) {
      const seen = signOf(one.directory, looked);
      const isSame = seen !== undefined && seen === one.seen;
      if (!isSame || !one.isSettled) one.onChange();
      Object.assign(one, { seen, isSettled: isSame });
    }
  }
}

/** Differs after a directory or one of its entries was made, removed or replaced; undefined where a look could hang. */
function signOf(directory: string, looked: Looked): string | undefined {
  const stats = lookNow(directory, looked);
  if (stats === "gone") return "gone";
  if (!stats?.isDirectory()) return undefined;
  const { dev, ino, ctimeMs, nlink } = stats;
  return [dev, ino, ctimeMs, nlink].join();
}

/**
 * Looks on the main thread, for which no other thread wakes up: only where each directory on the way is known to be one, not
 * a symbolic link, and on a file system of this machine. Undefined elsewhere.
 */
function lookNow(path: string, looked: Looked): Stats | "gone" | undefined {
  if (!looked.has(path)) looked.set(path, lookBelowParent(path, looked));
  return looked.get(path);
}

function lookBelowParent(path: string, looked: Looked): Stats | "gone" | undefined {
  const mount = mountAt(path);
  if (mount === undefined || !isLocal(mount)) return undefined;
  const directory = dirname(path);
  const parent = directory === path ? undefined : lookNow(directory, looked);
  if (parent === "gone") return "gone";
  if (directory !== path && !parent?.isDirectory()) return undefined;
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) ?? "gone");
}
