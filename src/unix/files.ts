import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { attempt, errnoOf } from "../base/errors";

/** What is at a path, behind symbolic links; undefined where nothing is, or it cannot be looked at. */
export function statsOf(path: string): Stats | undefined {
  return attempt(() => statSync(path));
}

/** Whether there is a folder, as far as this process can see. */
export function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() ?? false;
}

/** What is at a path, a symbolic link itself; `gone` where nothing is, `blocked` where it cannot be looked at. */
export function linkStatsOf(path: string): Stats | "gone" | "blocked" {
  try {
    return lstatSync(path);
  } catch (error) {
    return errnoOf(error) === "ENOENT" ? "gone" : "blocked";
  }
}

/** Whether the path itself is a socket, not a symbolic link to one. */
export function isSocketFile(path: string): boolean {
  const stats = linkStatsOf(path);
  return typeof stats === "object" && stats.isSocket();
}

/** Whether both are one file: the same device and inode. Says nothing of a file that was removed in between. */
export function isSameFile(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/**
 * Whether both are one socket file. An inode number is soon used again, so the time of its last change counts too; not
 * the ctime, which changes with the number of links.
 */
export function isSameSocket(one: Stats, other: Stats): boolean {
  return isSameFile(one, other) && one.mtimeMs === other.mtimeMs;
}

/** What is in a folder; nothing where it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}
