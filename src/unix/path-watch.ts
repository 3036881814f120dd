import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import type { Logger } from "../logging/logger";
import { findFile } from "./files";

type Armed = { readonly directory: string; inode: number; readonly watcher: FSWatcher };

/** The directories without a watch: the limits are those of a user and a process, and may leave each driver's without. */
const unwatched = new Set<string>();
/** Directories vanish without a word: at so many the set begins anew. */
const MAX_UNWATCHED = 1_000;

function tellUnwatched(log: Logger, directory: string, error: unknown): void {
  if (unwatched.has(directory)) return;
  if (unwatched.size >= MAX_UNWATCHED) unwatched.clear();
  const isFirst = unwatched.size === 0;
  unwatched.add(directory);
  // Inotify's limits are not those of `ulimit`.
  const check = "fs.inotify.max_user_instances, fs.inotify.max_user_watches, ulimit -n";
  const isFull = ["EMFILE", "ENOSPC"].includes(errnoOf(error) ?? "");
  const fields = { directory, err: error, ...(isFull && { check }) };
  if (isFirst) log.warn("Cannot watch directory, polling it instead", fields);
  else log.v(2).info("Cannot watch directory either", fields);
}

/** Watches a directory by inotify. Undefined where that is not possible, which the log says once. */
export function watchDirectory(
  directory: string,
  onEvent: (name: string | null) => void,
  log: Logger,
): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, (_event, name) => onEvent(name));
    watcher.on("error", () => watcher.close());
    unwatched.delete(directory);
    return watcher;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") tellUnwatched(log, directory, error);
    return undefined;
  }
}

/**
 * Hints that something may have happened to `path`, by inotify on its directory and the one above, or on the nearest that
 * exists. Where inotify does not work (watch limit reached, network file system) it stays silent, and the caller has to
 * poll. Resolves when it watches.
 */
export async function watchPath(path: string, log: Logger) {
  let armed: readonly Armed[] = [];
  let closed = false;
  const { call: hint, wait } = createWakeUp();

  /** An arming that is due serves all events until it begins: they may come faster than it works. */
  let isDue = false;
  let hasChanged = false;

  const arm = (directory: string, inode: number, name: string): Armed | undefined => {
    const onEvent = (changed: string | null) => {
      const isSelf = changed === basename(directory);
      if (changed !== null && changed !== name && !isSelf) return;
      // A new directory may have the old one's inode number, but not its watch.
      if (one && isSelf) one.inode = Number.NaN;
      hasChanged = true;
      rearm().catch(hint);
    };
    const watcher = watchDirectory(directory, onEvent, log);
    const one = watcher && { directory, inode, watcher };
    return one;
  };

  const armNow = async () => {
    const hints = hasChanged;
    isDue = hasChanged = false;
    const wanted: Armed[] = [];
    for (let child = path, existing = 0; existing < 2 && !closed; child = dirname(child)) {
      const directory = dirname(child);
      const found = await findFile(directory);
      if (typeof found !== "string") {
        existing++;
        const same = armed.find((one) => one.directory === directory && one.inode === found.ino);
        const one = same ?? arm(directory, found.ino, basename(child));
        if (one) wanted.push(one);
      }
      if (directory === dirname(directory)) break;
    }
    for (const old of armed) if (!wanted.includes(old)) old.watcher.close();
    armed = wanted;
    if (closed) for (const { watcher } of armed) watcher.close();
    if (hints) hint();
  };

  let arming = Promise.resolve();
  const rearm = (): Promise<void> => {
    if (!isDue) arming = arming.then(armNow);
    isDue = true;
    return arming;
  };

  await rearm();
  const close = (): void => {
    closed = true;
    for (const { watcher } of armed) watcher.close();
    hint();
  };
  return {
    /** Waits for the next hint, not at all if one came since the last wait; ends with `close` too. */
    wait,
    /** Hints for the caller, at what inotify cannot see. */
    hint,
    /** Watches a directory again that was replaced: inotify dies with its directory, and a re-mount is silent. */
    rearm,
    close,
    [Symbol.dispose]: close,
  };
}
