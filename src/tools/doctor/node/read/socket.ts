import { dirname } from "node:path";
import { errnoOf } from "../../../../base/errors";
import { isDirectory } from "../../../../unix/files";
import { MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { explainConnectError, tryConnect } from "../../../../unix/unix-socket";
import type { SocketFacts } from "./facts";
import { fileTypeOf, statsOrErrno } from "./files";

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
