import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { createWakeUp, type WakeUp } from "../base/pause";
import type { Logger } from "../logging/logger";
import { statsOf } from "./files";

/** Tells that something may have happened to one path. A hint, not a fact: the holder looks for itself. */
export interface PathWatch {
  /** Waits for the next hint, not at all if one came since the last wait; ends with `close` too. */
  readonly wait: WakeUp["wait"];
  /** Hints that something may have happened, for what inotify cannot see. */
  hint(): void;
  /** Arms the watch anew where a folder was replaced: inotify dies with its folder, and a re-mount is silent. */
  rearm(): void;
  close(): void;
}

interface Armed {
  readonly folder: string;
  readonly inode: number;
  readonly watcher: FSWatcher;
}

/**
 * Watches `path` by inotify: its folder and the folder above, so that a folder made anew is seen too; or the
 * nearest folder that exists, on the way down. Where inotify is not to be had (watch limit reached, network file
 * system) it stays silent and the caller's own slow poll must do.
 */
export function watchPath(path: string, log: Logger): PathWatch {
  let armed: readonly Armed[] = [];
  let closed = false;
  const { call: hint, wait } = createWakeUp();

  const arm = (child: string): Armed | undefined => {
    const folder = dirname(child);
    const name = basename(child);
    const inode = statsOf(folder)?.ino;
    if (inode === undefined) return undefined;
    const kept = armed.find((other) => other.folder === folder && other.inode === inode);
    if (kept) return kept;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, changed) => {
        const isSelf = changed === basename(folder);
        if (changed !== null && changed !== name && !isSelf) return;
        // A folder made anew may have its predecessor's inode number, but not its watch.
        if (isSelf) disarm(folder);
        rearm();
        hint();
      });
      watcher.on("error", () => watcher.close());
      return { folder, inode, watcher };
    } catch (error) {
      log.v(2).info("Cannot watch folder, looking at it every few seconds instead", { folder, err: error });
      return undefined;
    }
  };

  const disarm = (folder: string) => {
    for (const one of armed) if (one.folder === folder) one.watcher.close();
    armed = armed.filter((one) => one.folder !== folder);
  };

  const rearm = () => {
    if (closed) return;
    let child = path;
    while (statsOf(dirname(child)) === undefined && dirname(child) !== child) child = dirname(child);
    const wanted = [arm(child), arm(dirname(child))].filter((one) => one !== undefined);
    for (const old of armed) if (!wanted.includes(old)) old.watcher.close();
    armed = wanted;
  };

  rearm();
  return {
    wait,
    hint,
    rearm,
    close: () => {
      closed = true;
      for (const { watcher } of armed) watcher.close();
      armed = [];
      hint();
    },
  };
}
