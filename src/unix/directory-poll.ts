import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../base/errors";
import { startInterval, stopInterval } from "../base/pause";
import { isLocal, type Mount, mountPlaceOf, readMounts } from "./mounts";

/** In milliseconds: as late as this a change is noticed that has no event, or whose event is lost. */
const POLL_EVERY_MS = 5_000;

/** What a poll sees of a directory; undefined where a call could hang. */
type Seen = Stats | "gone" | undefined;

/** What one poll has seen so far, so that it reads each directory once. */
type Looked = Map<string, Seen>;

interface Polled {
  readonly directory: string;
  readonly onChange: () => void;
  /** By the last poll. */
  seen: Seen;
  /** Whether two polls in a row saw the same: a directory that has just changed can change again without another ctime. */
  isSettled: boolean;
}

/** This process has one timer for every directory of every driver, and one memory of which paths are local. */
const polled = new Set<Polled>();
const timer = { interval: undefined as NodeJS.Timeout | undefined };
const localAt = { mounts: [] as readonly Mount[], paths: new Map<string, boolean>() };

/**
 * The net under inotify: calls `onChange` within 5 s after a directory, or an entry of it, was made, removed or replaced,
 * or its mode or owner changed, and every 5 s where a call could hang. The function returned ends that.
 */
export function pollDirectory(directory: string, onChange: () => void): () => void {
  const one: Polled = { directory, onChange, seen: lookAt(directory, beginLook()), isSettled: false };
  if (polled.size === 0) timer.interval = startInterval(pollAll, POLL_EVERY_MS);
  polled.add(one);
  return () => {
    localAt.paths.delete(directory);
    if (polled.delete(one) && polled.size === 0) stopInterval(timer.interval);
  };
}

function pollAll(): void {
  const looked = beginLook();
  for (const one of [...polled]) {
    const seen = lookAt(one.directory, looked);
    const isSame = isUnchanged(one.seen, seen);
    // A listener that throws ends neither the polls of the others nor the process.
    if (!isSame || !one.isSettled) attempt(one.onChange);
    one.seen = seen;
    one.isSettled = isSame;
  }
}

/** Not after a directory or one of its entries was made, removed or replaced, and never where a call could hang. */
function isUnchanged(before: Seen, now: Seen): boolean {
  if (now === "gone" || before === "gone") return now === before;
  if (!now?.isDirectory() || before === undefined) return false;
  const { dev, ino, ctimeMs, nlink } = now;
  return dev === before.dev && ino === before.ino && ctimeMs === before.ctimeMs && nlink === before.nlink;
}

/**
 * Reads a directory's state on the main thread, for which no other thread wakes up: only where each directory on the way is
 * known to be one, not a symbolic link, and on a file system of this machine. Undefined elsewhere.
 */
function lookAt(path: string, looked: Looked): Seen {
  if (!looked.has(path)) looked.set(path, isLocalAt(path) ? lookBelowParent(path, looked) : undefined);
  return looked.get(path);
}

function lookBelowParent(path: string, looked: Looked): Seen {
  const directory = dirname(path);
  const parent = directory === path ? undefined : lookAt(directory, looked);
  if (parent === "gone") return "gone";
  if (directory !== path && !parent?.isDirectory()) return undefined;
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) ?? "gone");
}

/** Reads the mount table anew: a file system that hangs may have been mounted this moment. */
function beginLook(): Looked {
  const mounts = readMounts() ?? [];
  if (mounts !== localAt.mounts) localAt.paths.clear();
  localAt.mounts = mounts;
  return new Map();
}

/** What the mount table says of a path holds until the table changes. */
function isLocalAt(path: string): boolean {
  const { mounts, paths } = localAt;
  const mount = paths.has(path) ? undefined : mountPlaceOf(path, mounts);
  if (mount !== undefined) paths.set(path, isLocal(mount));
  return paths.get(path) ?? false;
}
