import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { platform } from "node:process";
import { isShortage } from "./descriptors";
import { callFileSystem } from "./file-calls";
import { type FileFound, findLink, whyNotFound } from "./files";

// The one place that compares files. A file system gives the inode number of a file that is gone to the next one, often at
// once, and within one tick of its clock with the same times: only a file that is held open is known again for certain.

/** A file that this process holds open, by a listener or a descriptor: no other file has its inode number meanwhile. */
export interface HeldFile {
  readonly stats: Stats;
  /** False from the moment at which another file may have the number. */
  readonly isHeld: () => boolean;
}

/** Whether what was found is this file. Never after it was let go. */
export const isHeldFile = (held: HeldFile, found: FileFound): boolean =>
  typeof found === "object" && held.isHeld() && isSameFile(held.stats, found);

/** Whether two looks, both while their file was there, were at one file: at two paths, or by two processes. */
export const isSameFile = (one: Stats, other: Stats): boolean =>
  one.dev === other.dev && one.ino === other.ino;

/** Linux' descriptor of a file that is not read, which a socket can have, too (open(2)). */
const O_PATH = 0o10000000;

/** Holds what is at a path, not behind a symbolic link, until `release`; or says why nothing can be held. */
export async function holdFile(
  path: string,
): Promise<(HeldFile & { readonly release: () => void }) | Exclude<FileFound, Stats>> {
  if (platform !== "linux") return holdLoosely(path);
  let isTooLate = false;
  const opened = async () => {
    const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
    let stats: Stats | undefined;
    try {
      stats = await handle.stat();
      return { handle, stats };
    } finally {
      if (stats === undefined || isTooLate) await handle.close();
    }
  };
  try {
    const { handle, stats } = await callFileSystem(path, opened);
    let isOpen = true;
    const release = () => {
      if (isOpen) handle.close().catch(() => {});
      isOpen = false;
    };
    return { stats, isHeld: () => isOpen, release };
  } catch (error) {
    isTooLate = true;
    if (isShortage(error)) throw error;
    return whyNotFound(error);
  }
}

/** Where the system has no such descriptor, as macOS: the times must do. */
async function holdLoosely(path: string): ReturnType<typeof holdFile> {
  const stats = await findLink(path);
  return typeof stats === "string" ? stats : { stats, isHeld: () => true, release: () => {} };
}

/**
 * Changes when a server makes its socket anew, unless within one tick of the clock: a hint to look again, not a proof of who
 * owns the socket. It uses the mtime, because the ctime changes with the number of links.
 */
export const versionOf = ({ dev, ino, mtimeMs }: Stats): string => [dev, ino, mtimeMs].join();

/** The same of directories, which have a time of birth where their file system keeps that. */
export const directoryVersionOf = ({ dev, ino, birthtimeMs }: Stats): string =>
  [dev, ino, birthtimeMs].join();
