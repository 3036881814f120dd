import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { attempt, errnoOf } from "../base/errors";
import { callFileSystem } from "./file-calls";

/** What is at a path; `blocked` if that cannot be read, `hanging` if its file system does not answer. */
export type FileFound = Stats | "gone" | "blocked" | "hanging";

/** The file at a path, behind symbolic links. Never rejects, never hangs. */
export const findFile = (path: string): Promise<FileFound> => found(callFileSystem(path, () => stat(path)));

/** The file at a path, or the symbolic link. Never rejects, never hangs. */
export const findLink = (path: string): Promise<FileFound> => found(callFileSystem(path, () => lstat(path)));

/** The names in a directory; none if it cannot be read. Never rejects, never hangs. */
export const listNames = (directory: string): Promise<readonly string[]> =>
  callFileSystem(directory, () => readdir(directory)).catch(() => []);

const found = (call: Promise<Stats>): Promise<FileFound> =>
  call.catch((error: unknown) => NOT_FOUND[errnoOf(error) ?? ""] ?? "blocked");

const NOT_FOUND: Readonly<Record<string, FileFound>> = {
  ENOENT: "gone",
  ENOTDIR: "gone",
  ETIMEDOUT: "hanging",
};

/** The file at a path, behind symbolic links; undefined if it does not exist or stat fails. */
export const statsOf = (path: string): Stats | undefined => attempt(() => statSync(path));

export const isFolder = (path: string): boolean => statsOf(path)?.isDirectory() ?? false;

/** The file at a path, or the symbolic link; `gone` if it does not exist, `blocked` if lstat fails. */
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

/** Whether both are one file. A file removed in between may lend its inode to the next. */
export const isSameFile = (one: Stats, other: Stats): boolean =>
  one.dev === other.dev && one.ino === other.ino;

/**
 * Whether both are one socket file. Because an inode number is soon used again, the mtime counts too; not the ctime, which
 * changes with the number of links.
 */
export const isSameSocket = (one: Stats, other: Stats): boolean =>
  isSameFile(one, other) && one.mtimeMs === other.mtimeMs;

/** The names in a folder; none if it cannot be read. */
export const namesIn = (folder: string): readonly string[] => attempt(() => readdirSync(folder)) ?? [];
