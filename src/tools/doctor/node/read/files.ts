import type { Dirent, Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../../../../base/errors";
import { callFileSystem, mountAt } from "../../../../unix/file-calls";
import { isDirectory } from "../../../../unix/files";
import { canHang } from "../../../../unix/mounts";
import { MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { explainConnectError, tryConnect } from "../../../../unix/unix-socket";
import { type Why, whyOf } from "../../findings/seen";
import type { NodeGap, NodePart, SocketFacts } from "./facts";

/** The file's stats, of a symbolic link those of its target; else the errno, ETIMEDOUT of a file system that hangs. */
export const statsOrErrno = (path: string): Promise<Stats | string> =>
  callFileSystem(path, () => stat(path)).catch(errnoIn);

/** Whether the errno of a look says that nothing is at that path. */
export const isThereNone = (errno: string): boolean => errno === "ENOENT" || errno === "ENOTDIR";

/** Throws an error that is not the system's: it is a fault of ours. */
export function errnoIn(error: unknown): string {
  const errno = errnoOf(error);
  if (errno === undefined) throw error;
  return errno;
}

export function fileTypeOf(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a directory";
  return stats.isSocket() ? "a socket" : "a device or pipe";
}

export interface Walked {
  readonly paths: string[];
  /** Directories that cannot be listed, the first one too, and mounts whose server may not answer. */
  readonly gaps: NodeGap[];
}

interface WalkRules {
  readonly part: NodePart;
  readonly isWanted: (entry: Dirent) => boolean;
  readonly mayEnter: (entry: Dirent) => boolean;
}

/** The wanted files below a directory. It follows no symbolic link, and leaves out mounts that can hang. */
export async function walk(
  directory: string,
  rules: WalkRules,
  depth = Number.POSITIVE_INFINITY,
): Promise<Walked> {
  const found: Walked = { paths: [], gaps: [] };
  if (depth === 0) return found;
  const list = async () =>
    [await realpath(directory), await readdir(directory, { withFileTypes: true })] as const;
  const gapAt = (subject: string, why: Why) => void found.gaps.push({ part: rules.part, subject, why });
  try {
    const [real, entries] = await callFileSystem(directory, list);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const mount = mountAt(join(real, entry.name));
      if (mount?.isMountPoint && canHang(mount)) gapAt(path, { kind: "mount", fileSystem: mount.fileSystem });
      else if (rules.isWanted(entry)) found.paths.push(path);
      else if (entry.isDirectory() && rules.mayEnter(entry)) {
        const below = await walk(path, rules, depth - 1);
        // One by one: a directory may have more entries than a call may have arguments.
        for (const one of below.paths) found.paths.push(one);
        for (const gap of below.gaps) found.gaps.push(gap);
      }
    }
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") gapAt(directory, whyOf(error));
  }
  return found;
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
