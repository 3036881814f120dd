import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import type { Logger } from "../logging/logger";
import { findFile } from "./files";
import { lookAtRest } from "./resting-look";

/** Gets the name of an entry that may have changed, or null: the directory itself, or any entry. */
type OnEvent = (name: string | null) => void;

/** The one inotify watch of a directory, for all that watch it: each registration watches the same directory. */
interface Watched {
  readonly inode: number;
  readonly listeners: Set<OnEvent>;
  readonly watcher: FSWatcher;
}

/** Of this process, like its inotify instance. */
const watched = new Map<string, Watched>();

/** Whether the log has said that inotify fails: its limits may leave each driver's directory without a watch. */
const unwatched = { isTold: false };

function tellUnwatched(log: Logger, directory: string, error: unknown): void {
  // Inotify's limits are not those of `ulimit`.
  const check = "fs.inotify.max_user_instances, fs.inotify.max_user_watches, ulimit -n";
  const isFull = ["EMFILE", "ENOSPC"].includes(errnoOf(error) ?? "");
  const fields = { directory, err: error, ...(isFull && { check }) };
  if (unwatched.isTold) log.v(2).info("Cannot watch directory either", fields);
  else log.warn("Cannot watch directory, polling it instead", fields);
  unwatched.isTold = true;
}

/**
 * Watches a directory, with this inode number, by inotify; the function returned ends that. Undefined where that is not
 * possible, which the log says once. A watch dies with its directory: at null, watch again.
 */
export function watchDirectory(
  directory: string,
  inode: number,
  onEvent: OnEvent,
  log: Logger,
): (() => void) | undefined {
  const former = watched.get(directory);
  const one = former?.inode === inode ? former : openWatch(directory, inode, log);
  if (one === undefined) return undefined;
  watched.set(directory, one);
  one.listeners.add(onEvent);
  return () => {
    one.listeners.delete(onEvent);
    if (one.listeners.size === 0) closeWatch(directory, one);
  };
}

function openWatch(directory: string, inode: number, log: Logger): Watched | undefined {
  const listeners = new Set<OnEvent>();
  try {
    const watcher = watch(directory, { persistent: false }, (_event, name) => {
      const isSelf = name === null || name === basename(directory);
      // A new directory may have the path, and even the inode number, but not the watch.
      if (isSelf) closeWatch(directory, one);
      for (const listener of [...listeners]) listener(isSelf ? null : name);
    });
    const one = { inode, listeners, watcher };
    watcher.on("error", () => watcher.close());
    return one;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") tellUnwatched(log, directory, error);
    return undefined;
  }
}

function closeWatch(directory: string, one: Watched): void {
  one.watcher.close();
  if (watched.get(directory) === one) watched.delete(directory);
}

/** Without an inode it must be watched anew. */
type Armed = {
  readonly directory: string;
  inode: number | undefined;
  readonly end: (() => void) | undefined;
};

/**
 * Hints that something may have happened to `path`: by inotify on its directory and the one above, or on the nearest that
 * exists, and within 5 s by a look at its directory. Resolves when it watches.
 */
export async function watchPath(path: string, log: Logger) {
  let armed: readonly Armed[] = [];
  let closed = false;
  const { call: hint, wait } = createWakeUp();

  /** An arming that is due serves all events until it begins: they may come faster than it works. */
  let isDue = false;
  let arming = Promise.resolve();
  const rearm = (): void => {
    if (!isDue) arming = arming.then(arm).then(hint, hint);
    isDue = true;
  };

  const watchFor = (directory: string, inode: number, name: string): Armed => {
    const onEvent = (changed: string | null) => {
      if (changed !== null && changed !== name) return;
      if (changed === null) one.inode = undefined;
      rearm();
    };
    const end = watchDirectory(directory, inode, onEvent, log);
    const one: Armed = { directory, inode: end && inode, end };
    return one;
  };

  const arm = async () => {
    isDue = false;
    const wanted: Armed[] = [];
    for (let child = path; wanted.length < 2 && !closed; child = dirname(child)) {
      const directory = dirname(child);
      const found = await findFile(directory);
      if (typeof found !== "string" && !closed) {
        const same = armed.find((one) => one.directory === directory && one.inode === found.ino);
        wanted.push(same ?? watchFor(directory, found.ino, basename(child)));
      }
      if (directory === dirname(directory)) break;
    }
    for (const former of armed) if (!wanted.includes(former)) former.end?.();
    armed = wanted;
    if (closed) for (const { end } of armed) end?.();
  };

  const endLooks = lookAtRest(dirname(path), rearm);
  arming = arm();
  await arming;
  const close = (): void => {
    closed = true;
    endLooks();
    for (const { end } of armed) end?.();
    hint();
  };
  return {
    /** Waits for the next hint, not at all if one came since the last wait; ends with `close` too. */
    wait,
    /** Hints for the caller, at what inotify cannot see. */
    hint,
    close,
    [Symbol.dispose]: close,
  };
}
