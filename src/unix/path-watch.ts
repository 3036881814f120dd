import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { errnoOf } from "../base/errors";
import { createWakeUp } from "../base/pause";
import type { Logger } from "../logging/logger";
import { pollDirectory } from "./directory-poll";
import { directoryVersionOf } from "./file-identity";
import { findFile } from "./files";

/** Gets the name of an entry that may have changed; without a name the directory itself, or any entry. */
type OnEvent = (name?: string) => void;

/**
 * The one inotify watch of a directory, by its version and path, for all that watch it: each registration watches the same
 * directory. Of this process, like its inotify instance.
 */
const watched = new Map<string, FSWatcher>();

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
 * Watches a directory, in this version, by inotify; the function returned ends that. Undefined where that is not
 * possible, which the log says once. At an event without a name each must end it and watch again: a new directory may
 * have the path, and even the version, but not the watch.
 */
function watchDirectory(directory: string, version: string, onEvent: OnEvent, log: Logger) {
  const key = `${version} ${directory}`;
  const watcher = watched.get(key) ?? openWatch(directory, log);
  if (watcher === undefined) return undefined;
  watched.set(key, watcher);
  const itself = basename(directory);
  const listener = (_event: string, name: unknown) =>
    typeof name === "string" && name !== itself ? onEvent(name) : onEvent();
  watcher.on("change", listener);
  return () => {
    watcher.off("change", listener);
    if (watcher.listenerCount("change") > 0) return;
    watcher.close();
    watched.delete(key);
  };
}

function openWatch(directory: string, log: Logger): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }).setMaxListeners(0);
    return watcher.on("error", () => watcher.close());
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") tellUnwatched(log, directory, error);
    return undefined;
  }
}

/**
 * Watches directories by inotify, and by a poll every 5 s, because some changes cause no event. `onChange` gets the
 * directory and the entry that may have changed; without a name the directory itself, or any entry.
 */
export function createDirectoryWatches(onChange: (directory: string, name?: string) => void, log: Logger) {
  const watches = new Map<string, { readonly version: string; readonly end: () => void }>();
  const drop = (directory: string) => {
    watches.get(directory)?.end();
    watches.delete(directory);
  };

  const open = (directory: string, version: string) => {
    const onEvent: OnEvent = (name) => {
      if (name === undefined) drop(directory);
      onChange(directory, name);
    };
    const endEvents = version === UNSEEN ? undefined : watchDirectory(directory, version, onEvent, log);
    // Where inotify failed, it may be possible now.
    const endPolls = pollDirectory(directory, endEvents ? () => onChange(directory) : () => onEvent());
    const end = () => {
      endEvents?.();
      endPolls();
    };
    return { version, end };
  };

  return {
    /** Watches these, in their versions, and no others. Returns those that were not watched before. */
    keep: (wanted: ReadonlyMap<string, string>): readonly string[] => {
      for (const [directory, { version }] of watches) if (wanted.get(directory) !== version) drop(directory);
      const added = [...wanted].filter(([directory]) => !watches.has(directory));
      for (const [directory, version] of added) watches.set(directory, open(directory, version));
      return added.map(([directory]) => directory);
    },
    [Symbol.dispose]: (): void => {
      for (const directory of watches.keys()) drop(directory);
    },
  };
}

/** The version of a directory that cannot be read, or whose file system hangs. */
const UNSEEN = "";

/**
 * Hints that something may have happened to `path`: by watches of its directory and the one above, or the nearest that exist.
 * Resolves when it watches.
 */
export async function watchPath(path: string, log: Logger) {
  let closed = false;
  const { call: hint, wait } = createWakeUp();
  const childOf = new Map<string, string>();

  /** An arming that is due serves all events until it begins: they may come faster than it works. */
  let isDue = false;
  let arming = Promise.resolve();
  const rearm = (): void => {
    if (!isDue) arming = arming.then(arm).then(hint, hint);
    isDue = true;
  };
  const watches = createDirectoryWatches((directory, name) => {
    if (name === undefined || name === childOf.get(directory)) rearm();
  }, log);

  const arm = async () => {
    isDue = false;
    const wanted = new Map<string, string>();
    for (let child = path; wanted.size < 2; child = dirname(child)) {
      const directory = dirname(child);
      childOf.set(directory, basename(child));
      const found = await findFile(directory);
      if (found !== "gone")
        wanted.set(directory, typeof found === "string" ? UNSEEN : directoryVersionOf(found));
      if (directory === dirname(directory)) break;
    }
    if (!closed) watches.keep(wanted);
  };

  arming = arm();
  await arming;
  const close = (): void => {
    closed = true;
    watches[Symbol.dispose]();
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

export type PathWatch = Awaited<ReturnType<typeof watchPath>>;

/** Keeps one watch open from one caller to the next, as long as they want the same path. */
export function createKeptWatch(log: Logger) {
  let kept: { readonly path: string; readonly watch: PathWatch } | undefined;
  const close = (): void => {
    kept?.watch.close();
    kept = undefined;
  };
  return {
    at: async (path: string): Promise<PathWatch> => {
      if (kept?.path !== path) {
        close();
        kept = { path, watch: await watchPath(path, log) };
      }
      return kept.watch;
    },
    close,
  };
}
