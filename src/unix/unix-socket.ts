import type { Stats } from "node:fs";
import { connect, type Socket } from "node:net";
import { errnoOf, systemError } from "../base/errors";
import { isShortage } from "./descriptors";
import { timedOut } from "./file-calls";
import { type FileFound, findFile, findLink } from "./files";

// Nothing dials a path without a look first: connect(2) walks it on the main thread, which a file system that hangs stops.

/**
 * Starts a connection to a unix socket; its events tell the result, and an error without a listener is dropped. Rejects with
 * ETIMEDOUT where the file system hangs, and where there is no socket.
 */
export async function connectTo(path: string): Promise<Socket> {
  const whyNot = whyNoSocket(path, await findFile(path));
  if (whyNot !== undefined) throw whyNot;
  return connect({ path }).on("error", () => {});
}

/**
 * The look for code that dials by itself, as grpc-js does. Rejects with ETIMEDOUT where the file system hangs; of all else
 * connect(2) gives the errno, which kubelet's words have.
 */
export async function lookBeforeDialling(path: string): Promise<void> {
  const found = await findFile(path);
  if (found === "hanging") throw whyNoSocket(path, found);
}

/** The reason why a unix socket does not accept a connection; undefined if it does. */
export async function tryConnect(path: string): Promise<Error | undefined> {
  try {
    const socket = await connectTo(path);
    return await new Promise((resolve) => {
      socket.once("connect", () => {
        socket.destroy();
        resolve(undefined);
      });
      socket.once("error", resolve);
    });
  } catch (error) {
    return error as Error;
  }
}

/** Why what is at a path cannot be connected to, by a look at it; undefined if it may. */
export function whyNoSocket(path: string, found: FileFound): Error | undefined {
  if (found === "hanging") return systemError("ETIMEDOUT", `connect ${timedOut(path).message}`);
  if (found === "gone") return systemError("ENOENT", `connect ENOENT ${path}`);
  // Linux says ECONNREFUSED, as of a socket on which no process listens.
  const isOther = typeof found === "object" && !found.isSocket();
  return isOther ? systemError("ENOTSOCK", "connect ENOTSOCK") : undefined;
}

/** Whether a socket accepts connections, or may: the attempt failed on this side. */
export const mayAccept = (problem: Error | undefined): boolean =>
  problem === undefined || isShortage(problem) || errnoOf(problem) === "ETIMEDOUT";

/** What is at the path of a socket file. */
export type SocketFound =
  | "ours"
  /** Nothing: our socket or its directory was removed. */
  | "gone"
  /** Another socket, on which a process listens. */
  | "taken"
  /** Another socket, on which no process listens. */
  | "dead"
  /** A file that is not a socket. */
  | "blocked"
  /** Unknown: the look failed, as with EIO, ENOMEM or EACCES. */
  | "unreadable"
  /** Unknown: the file system does not answer. */
  | "hanging";

/** Whether a look at a socket says nothing: the socket that was there counts as there. */
export const isUnknown = (found: SocketFound): boolean => found === "unreadable" || found === "hanging";

/** Whether our socket is in place, or may be: nothing gives up, or replaces, a socket because a look at it failed. */
export const mayBeOurs = (found: SocketFound): boolean => found === "ours" || isUnknown(found);

/** What is at the path of a socket file, not behind a symbolic link; `isOurs` knows our own. */
export async function judgeSocket(
  path: string,
  isOurs: (found: Stats) => boolean = () => false,
): Promise<SocketFound> {
  const found = await findLink(path);
  if (typeof found === "string") return found;
  if (isOurs(found)) return "ours";
  if (!found.isSocket()) return "blocked";
  const errno = errnoOf(await tryConnect(path));
  if (errno === "ENOENT") return "gone";
  if (errno === "ETIMEDOUT") return "hanging";
  return errno === "ECONNREFUSED" ? "dead" : "taken";
}

/** What a failed connection usually means: its errno and a few words. */
export function explainConnectError(error: Error | undefined): string | undefined {
  if (error === undefined) return undefined;
  const errno = errnoOf(error);
  const explanation = errno && CONNECT_EXPLANATIONS[errno];
  return explanation ? `${errno}: ${explanation}` : error.message;
}

const CONNECT_EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "no such socket yet: is the driver running, and is the directory of its socket mounted here?",
  ECONNREFUSED: "no process listens on this socket: the driver probably exited and left it",
  EACCES: "permission denied: not running as root, or denied by SELinux?",
  ENOTSOCK: "this file is not a socket",
  ETIMEDOUT: "its file system does not answer: is its server, or the network to it, down?",
  EAGAIN: "the driver's queue of connections is full: does it hang?",
  EMFILE: "this process has no file descriptor left: see ulimit -n, and who holds connections to it",
};
