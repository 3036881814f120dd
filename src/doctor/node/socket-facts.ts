import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../../base/errors";
import { isFolder } from "../../unix/files";
import { MAX_SOCKET_PATH_BYTES } from "../../unix/socket-path";
import { explainConnectError, tryConnect } from "../../unix/unix-socket";
import type { Ownership, SocketFacts } from "./facts";

/** Looks at a path where a unix socket belongs. By default it connects, says nothing and leaves. */
export async function lookAtSocket(path: string, tryReach = tryConnect): Promise<SocketFacts> {
  const bytes = Buffer.byteLength(path);
  // Before anything else: libuv would cut the path and connect to another one.
  if (bytes > MAX_SOCKET_PATH_BYTES) return { kind: "too-long", path, bytes };
  const stats = statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path, folderInSight: isFolder(dirname(path)) };
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats };
  if (!stats.isSocket()) return { kind: "not-a-socket", path, fileType: fileTypeOf(stats) };
  const seen = { path, ownership: ownershipOf(stats), inode: `${stats.dev}:${stats.ino}` };
  const error = await tryReach(path);
  if (error === undefined) return { kind: "accepting", ...seen };
  const explanation = explainConnectError(error, path) ?? error.message;
  return { kind: "not-accepting", ...seen, errno: errnoOf(error), explanation };
}

/** The file's stats, of a symbolic link those of its target; else the errno. */
export function statsOrErrno(path: string): Stats | string {
  try {
    return statSync(path);
  } catch (error) {
    return errnoOf(error) ?? "EIO";
  }
}

export function ownershipOf({ mode, uid, gid }: Stats): Ownership {
  return { mode: mode & 0o7777, uid, gid };
}

export function fileTypeOf(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a folder";
  return stats.isSocket() ? "a socket" : "a device or pipe";
}
