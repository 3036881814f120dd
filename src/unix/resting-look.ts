import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../base/errors";
import { startInterval, stopInterval } from "../base/pause";
import { mountAt, mountsNow } from "./file-calls";
import { isLocal, type Mount } from "./mounts";

/** In milliseconds: as late as this a change is noticed that has no event, or whose event is lost. */
const LOOK_EVERY_MS = 5_000;

type Seen = Stats | "gone" | undefined;

/** What a look has seen so far, so that it sees each directory once. */
type Looked = Map<string, Seen>;

/** A directory that is looked at, and what the last look saw; undefined where a look could hang. */
interface Resting {
  readonly directory: string;
  readonly onChange: () => void;
  seen: Seen;
  /** Whether two looks in a row saw the same: a directory that has just changed can change again without another ctime. */
  isSettled: boolean;
}

/** This process has one timer for every directory of every driver, and one memory of which paths are local. */
const resting = new Set<Resting>();
const looking = { timer: undefined as NodeJS.Timeout | undefined };
const localAt = { mounts: [] as readonly Mount[], paths: new Map<string, boolean>() };

/**
 * The net under inotify: calls `onChange` within 5 s after a directory, or an entry of it, was made, removed or replaced,
 * or its mode or owner changed, and every 5 s where a look could hang. The function returned ends that.
 */
export function lookAtRest(directory: string, onChange: () => void): () => void {
  const one: Resting = { directory, onChange, seen: lookNow(directory, new Map()), isSettled: false };
  if (resting.size === 0) looking.timer = startInterval(lookAtAll, LOOK_EVERY_MS);
  resting.add(one);
  return () => {
    localAt.paths.delete(directory);
    if (resting.delete(one) && resting.size === 0) stopInterval(looking.timer);
  };
}

function lookAtAll(): void {
  const looked: Looked = new Map();
  for (const one of [...resting]) {
    const seen = lookNow(one.directory, looked);
    const isSame = isUnchanged(one.seen, seen);
    // A listener that throws ends neither the others' looks nor the process.
    if (!isSame || !one.isSettled) attempt(one.onChange);
    one.seen = seen;
    one.isSettled = isSame;
  }
}

/** Not after a directory or one of its entries was made, removed or replaced, and never where a look could hang. */
function isUnchanged(before: Seen, now: Seen): boolean {
  if (now === "gone" || before === "gone") return now === before;
  if (!now?.isDirectory() || before === undefined) return false;
  const { dev, ino, ctimeMs, nlink } = now;
  return dev === before.dev && ino === before.ino && ctimeMs === before.ctimeMs && nlink === before.nlink;
}

/**
 * Looks on the main thread, for which no other thread wakes up: only where each directory on the way is known to be one, not
 * a symbolic link, and on a file system of this machine. Undefined elsewhere.
 */
function lookNow(path: string, looked: Looked): Seen {
  if (!looked.has(path)) looked.set(path, isLocalAt(path) ? lookBelowParent(path, looked) : undefined);
  return looked.get(path);
}

function lookBelowParent(path: string, looked: Looked): Seen {
  const directory = dirname(path);
  const parent = directory === path ? undefined : lookNow(directory, looked);
  if (parent === "gone") return "gone";
  if (directory !== path && !parent?.isDirectory()) return undefined;
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) ?? "gone");
}

/** What the mount table says of a path holds until the table changes. */
function isLocalAt(path: string): boolean {
  const { paths } = localAt;
  const mounts = mountsNow();
  if (mounts !== localAt.mounts) paths.clear();
  localAt.mounts = mounts;
  const known = paths.get(path);
  if (known !== undefined) return known;
  const mount = mountAt(path);
  const isKnownLocal = mount !== undefined && isLocal(mount);
  paths.set(path, isKnownLocal);
  return isKnownLocal;
}
