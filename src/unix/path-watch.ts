import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { createWakeUp } from "../base/pause";
import type { Logger } from "../logging/logger";
import { statsOf } from "./files";

export type PathWatch = ReturnType<typeof watchPath>;

type Armed = { readonly folder: string; readonly inode: number; readonly watcher: FSWatcher };

/**
 * Hints that something may have happened to `path`, by inotify on its folder and the folder above, or on the nearest folder
 * that exists. Where inotify does not work (watch limit reached, network file system) it stays silent, and the caller has
 * to poll.
 */
export function watchPath(path: string, log: Logger) {
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
        // A new folder may have the old one's inode number, but not its watch.
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
    /** Waits for the next hint, not at all if one came since the last wait; ends with `close` too. */
    wait,
    /** Hints for the caller, at what inotify cannot see. */
    hint,
    /** Watches a folder again that was replaced: inotify dies with its folder, and a re-mount is silent. */
    rearm,
    close: (): void => {
      closed = true;
      for (const { watcher } of armed) watcher.close();
      armed = [];
      hint();
    },
  };
}
