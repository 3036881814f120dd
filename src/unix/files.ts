import type { Stats } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../base/errors";
import { callFileSystem } from "./file-calls";

/** What is at a path, or `gone`; unknown is `unreadable`, and `hanging` where the file system does not answer. */
export type FileFound = Stats | "gone" | "unreadable" | "hanging";

/** The file at a path, behind symbolic links. Never rejects, never hangs. */
export const findFile = (path: string): Promise<FileFound> => found(callFileSystem(path, () => stat(path)));

/** The file at a path, or the symbolic link. Never rejects, never hangs. */
export const findLink = (path: string): Promise<FileFound> => found(callFileSystem(path, () => lstat(path)));

export const isFoundDirectory = (found: FileFound): found is Stats =>
  typeof found === "object" && found.isDirectory();

/** The error with which a look at a path fails; undefined if it does not. */
export const errorAt = (path: string, look: typeof stat = stat): Promise<unknown> =>
  callFileSystem(path, () => look(path)).then(
    () => undefined,
    (error: unknown) => error,
  );

/** The names in a directory; none if it does not exist. Rejects if it cannot be read: its names are unknown then. Never hangs. */
export const listNames = (directory: string): Promise<readonly string[]> =>
  callFileSystem(directory, () => readdir(directory)).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });

/** The path without symbolic links, as far as it exists. Rejects where it cannot be read whether there are any. Never hangs. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await callFileSystem(path, () => realpath(path));
  } catch (error) {
    const isThereNone = ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
    if (!isThereNone || dirname(path) === path) throw error;
    return join(await realPathOf(dirname(path)), basename(path));
  }
}

const found = (call: Promise<Stats>): Promise<FileFound> => call.catch(whyNotFound);

/** What is at a path, by the error with which a look at it failed. */
export const whyNotFound = (error: unknown): Exclude<FileFound, Stats> =>
  NOT_FOUND[errnoOf(error) ?? ""] ?? "unreadable";

const NOT_FOUND: Readonly<Record<string, "gone" | "hanging">> = {
  ENOENT: "gone",
  ENOTDIR: "gone",
  ETIMEDOUT: "hanging",
};

export const isDirectory = async (path: string): Promise<boolean> => isFoundDirectory(await findFile(path));
