import type { Dirent, Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../../../../base/errors";
import { callFileSystem, mountAt } from "../../../../unix/file-calls";
import { isDirectory } from "../../../../unix/files";
import { canHang } from "../../../../unix/mounts";
import { MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { explainConnectError, tryConnect } from "../../../../unix/unix-socket";
import type { SocketFacts } from "./facts";

/** The file's stats, of a symbolic link those of its target; else the errno, ETIMEDOUT of a file system that hangs. */
export const statsOrErrno = (path: string): Promise<Stats | string> =>
  callFileSystem(path, () => stat(path)).catch(errnoIn);

export const errnoIn = (error: unknown): string => errnoOf(error) ?? "EIO";

export function fileTypeOf(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a directory";
  return stats.isSocket() ? "a socket" : "a device or pipe";
}

export interface Walked {
  readonly paths: string[];
  /** Mounts whose server may not answer. */
  readonly leftOut: { readonly path: string; readonly fileSystem: string }[];
  /** Directories below that cannot be listed, and why. */
  readonly unread: { readonly path: string; readonly errno: string }[];
  /** Why the directory itself cannot be listed. */
  readonly errno?: string;
}

/** The wanted files below a directory. It follows no symbolic link, and leaves out mounts that can hang. */
export async function walk(
  directory: string,
  isWanted: (entry: Dirent) => boolean,
  mayEnter: (entry: Dirent) => boolean,
  depth = Number.POSITIVE_INFINITY,
): Promise<Walked> {
  const found: Walked = { paths: [], leftOut: [], unread: [] };
  if (depth === 0) return found;
  const list = async () =>
    [await realpath(directory), await readdir(directory, { withFileTypes: true })] as const;
  try {
    const [real, entries] = await callFileSystem(directory, list);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const mount = mountAt(join(real, entry.name));
      if (mount?.isMountPoint && canHang(mount)) found.leftOut.push({ path, fileSystem: mount.fileSystem });
      else if (isWanted(entry)) found.paths.push(path);
      else if (entry.isDirectory() && mayEnter(entry)) {
        const below = await walk(path, isWanted, mayEnter, depth - 1);
        for (const key of ["paths", "leftOut", "unread"] as const)
          found[key].push(...(below[key] as never[]));
        if (below.errno !== undefined && below.errno !== "ENOENT")
          found.unread.push({ path, errno: below.errno });
      }
    }
    return found;
  } catch (error) {
    return { ...found, errno: errnoIn(error) };
  }
}

/** Looks at a path where a unix socket belongs. By default it connects, says nothing and leaves. */
export async function lookAtSocket(path: string, tryReach = tryConnect): Promise<SocketFacts> {
  const bytes = Buffer.byteLength(path);
  // Before anything else: libuv would cut the path and connect to another one.
  if (bytes > MAX_SOCKET_PATH_BYTES) return { kind: "too-long", path, bytes };
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT")
    return { kind: "missing", path, isDirectoryInSight: await isDirectory(dirname(path)) };
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats };
  if (!stats.isSocket()) return { kind: "not-a-socket", path, fileType: fileTypeOf(stats) };
  const seen = { path, ownership: stats, inode: `${stats.dev}:${stats.ino}` };
  const error = await tryReach(path);
  if (error === undefined) return { kind: "accepting", ...seen };
  const explanation = explainConnectError(error) ?? error.message;
  return { kind: "not-accepting", ...seen, errno: errnoOf(error), explanation };
}
