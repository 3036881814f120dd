import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../base/errors";
import { monotonicMs, startInterval, stopInterval } from "../base/pause";
import { directoryVersionOf } from "./file-identity";
import { isLocal, type Mount, mountPlaceOf, readMounts } from "./mounts";

/** In milliseconds: as late as this a change is noticed that has no event, or whose event is lost. */
const POLL_EVERY_MS = 5_000;
/** Two polls so far apart: this process was stopped, or had no CPU, long enough for kubelet to give up a dial (10 s). */
const STANDSTILL_MS = 10_000;
/** So long after a standstill it is dealt with what happened meanwhile. */
const CATCHES_UP_WITHIN_MS = 5_000;

/** What a poll sees of a directory; undefined where a call could hang. */
type Seen = Stats | "gone" | undefined;

/** The mounts by which one poll looks, and what it has seen so far, so that it reads each directory once. */
interface Look {
  readonly mounts: readonly Mount[];
  readonly seen: Map<string, Seen>;
}

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
const timer = { interval: undefined as NodeJS.Timeout | undefined, polledAtMs: 0, stoodUntilMs: -Infinity };
const localAt = { mounts: [] as readonly Mount[], paths: new Map<string, boolean>() };

/**
 * The net under inotify: calls `onChange` within 5 s after a directory, or an entry of it, was made, removed or replaced,
 * or its mode or owner changed, and every 5 s where a call could hang. The function returned ends that.
 */
export function pollDirectory(directory: string, onChange: () => void): () => void {
  // The caller looks by itself when it has begun: one here, by a mount table of a moment ago, might hang.
  const one: Polled = { directory, onChange, seen: undefined, isSettled: false };
  if (polled.size === 0) {
    timer.interval = startInterval(pollAll, POLL_EVERY_MS);
    timer.polledAtMs = monotonicMs();
  }
  polled.add(one);
  return () => {
    if (polled.delete(one) && polled.size === 0) stopInterval(timer.interval);
  };
}

/** Whether this process, while it polled, stood still for 10 s until a moment ago. */
export function hasStoodStill(): boolean {
  const nowMs = monotonicMs();
  const isLate = polled.size > 0 && nowMs - timer.polledAtMs >= STANDSTILL_MS;
  return isLate || nowMs - timer.stoodUntilMs < CATCHES_UP_WITHIN_MS;
}

function pollAll(): void {
  const nowMs = monotonicMs();
  if (nowMs - timer.polledAtMs >= STANDSTILL_MS) timer.stoodUntilMs = nowMs;
  timer.polledAtMs = nowMs;
  // Read anew: a file system that hangs may have been mounted this moment.
  const look: Look = { mounts: readMounts() ?? [], seen: new Map() };
  for (const one of [...polled]) {
    const seen = lookAt(one.directory, look);
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
  return directoryVersionOf(now) === directoryVersionOf(before) && now.ctimeMs === before.ctimeMs;
}

/**
 * Reads a directory's state on the main thread, for which no other thread wakes up: only where each directory on the way is
 * known to be one, not a symbolic link, and on a file system of this machine. Undefined elsewhere.
 */
function lookAt(path: string, look: Look): Seen {
  const { mounts, seen } = look;
  if (!seen.has(path)) seen.set(path, isLocalAt(path, mounts) ? lookBelowParent(path, look) : undefined);
  return seen.get(path);
}

function lookBelowParent(path: string, look: Look): Seen {
  const directory = dirname(path);
  const parent = directory === path ? undefined : lookAt(directory, look);
  if (parent === "gone") return "gone";
  if (directory !== path && !parent?.isDirectory()) return undefined;
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) ?? "gone");
}

/** What the mount table says of a path holds until the table changes. */
function isLocalAt(path: string, mounts: readonly Mount[]): boolean {
  const { paths } = localAt;
  if (mounts !== localAt.mounts) paths.clear();
  localAt.mounts = mounts;
  const mount = paths.has(path) ? undefined : mountPlaceOf(path, mounts);
  if (mount !== undefined) paths.set(path, isLocal(mount));
  return paths.get(path) ?? false;
}
