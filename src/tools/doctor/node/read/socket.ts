import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../../../../base/errors";
import { MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { explainConnectError, tryConnect } from "../../../../unix/unix-socket";
import type { Unread } from "../../findings/seen";
import { errnoIn, fileTypeOf, isThereNone, statsOrErrno, withShortPath } from "./files";
import { type PathHere, pathHere } from "./paths";

export type Ownership = Readonly<Pick<Stats, "mode" | "uid" | "gid">>;

interface OfSocket {
  readonly ownership: Ownership;
  readonly inode: string;
}

/** Which check says that a socket could not be read. */
type SocketPart = "directory" | "sockets";

/** What is at a path where a unix socket belongs. */
export type SocketFacts<Path = PathHere> = {
  readonly path: Path;
  /** Device and inode of a socket, of whatever type, which two paths may share. */
  readonly inode?: string | undefined;
} & (
  | ({ readonly kind: "accepting" } & OfSocket)
  /** No process listens; or its queue of connections is full, because its process hangs. `explanation`: the errno, and what it means. */
  | ({ readonly kind: "dead" | "stuck"; readonly explanation: string } & OfSocket)
  /** Nothing; or not even its directory. */
  | { readonly kind: "missing" | "no-directory" }
  | { readonly kind: "not-a-socket"; readonly fileType: string }
  | { readonly kind: "too-long"; readonly bytes: number }
  /** The path leads nowhere, by its errno. */
  | { readonly kind: "broken"; readonly errno: string }
  /** This process could not look, or not connect: by its errno, or because it sees another file than the host. */
  | (Unread<SocketPart> & { readonly errno?: string })
);

export type SocketKind = SocketFacts["kind"];
export type SeenSocket<Path = PathHere> = Exclude<SocketFacts<Path>, { readonly kind: "unread" }>;

/** What the errno of a failed look, or of a failed connection, says. Any other one says only that this process could not look. */
const NO_LISTENER: readonly string[] = ["EPROTOTYPE", "ENOTSOCK"];
const BROKEN: ReadonlySet<string> = new Set(["ELOOP", "ENOTDIR", "ENAMETOOLONG"]);
const UNANSWERED: Readonly<Record<string, "dead" | "stuck">> = { ECONNREFUSED: "dead", EAGAIN: "stuck" };

/** Whether the errno of a failed look or connection shows what is there; by any other one this process could not look. */
export const isTelling = (errno: string): boolean =>
  isThereNone(errno) || BROKEN.has(errno) || errno in UNANSWERED || NO_LISTENER.includes(errno);

export const hasNoSocket = ({ kind }: SeenSocket<string>): boolean =>
  kind === "missing" || kind === "no-directory" || kind === "not-a-socket";

/** A mount that is not here may have it. */
export const hiddenAt = (path: string): SocketFacts => ({
  ...{ kind: "unread", path: pathHere(path) },
  gap: { part: "sockets", subject: path, why: { kind: "unmounted" } },
});

interface LookOptions {
  /** Of which check it is a gap where the look fails. Default: `sockets`. */
  readonly part?: SocketPart;
  /** The path as the host or the container of its process has it, which Linux limits. Default: as given. */
  readonly own?: string;
  /** How the path is reached from here. Default: as it is. */
  readonly reach?: (given: string) => Promise<string>;
  /** Default: it connects, says nothing and leaves. */
  readonly tryReach?: (short: string, path: string) => ReturnType<typeof tryConnect>;
}

/** Looks at what is at a path. The facts have the path as it is reached. */
export async function lookAtSocket(
  given: string,
  { part = "sockets", own = given, reach = async () => given, tryReach = tryConnect }: LookOptions = {},
): Promise<SocketFacts> {
  let path = pathHere(given);
  const unread = (errno: string, inode?: string) => {
    const gap = { part, subject: path, why: { kind: "errno", errno } } as const;
    return { kind: "unread", path, inode, errno, gap } as const;
  };
  try {
    path = pathHere(await reach(given));
  } catch (error) {
    return unread(errnoIn(error));
  }
  const bytes = Buffer.byteLength(own);
  if (bytes > MAX_SOCKET_PATH_BYTES) return { kind: "too-long", path, bytes };
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT") {
    const directory = await statsOrErrno(dirname(path));
    if (typeof directory !== "string") return { kind: "missing", path };
    return isThereNone(directory) ? { kind: "no-directory", path } : unread(directory);
  }
  if (typeof stats === "string")
    return BROKEN.has(stats) ? { kind: "broken", path, errno: stats } : unread(stats);
  if (!stats.isSocket()) return { kind: "not-a-socket", path, fileType: fileTypeOf(stats) };
  const socket = { path, ownership: stats, inode: `${stats.dev}:${stats.ino}` };
  const error = await withShortPath(path, (short) => tryReach(short, path)).catch((failed: Error) => failed);
  if (error === undefined) return { kind: "accepting", ...socket };
  const errno = errnoOf(error) ?? error.message;
  // No gRPC server listens on one.
  if (errno === "EPROTOTYPE")
    return { kind: "not-a-socket", path, inode: socket.inode, fileType: "a datagram socket" };
  const kind = UNANSWERED[errno];
  if (kind !== undefined) return { kind, ...socket, explanation: explainConnectError(error) ?? errno };
  return unread(errno, socket.inode);
}
