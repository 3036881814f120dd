import type { Stats } from "node:fs";
import { connect } from "node:net";
import { BACKOFF, backoffMs, REMINDERS, reminderMs } from "../base/backoff";
import { errnoOf, systemError } from "../base/errors";
import type { Logger } from "../logging/logger";
import { isShortage } from "./descriptors";
import { timedOut } from "./file-calls";
import { versionOf } from "./file-identity";
import { findFile, findLink } from "./files";
import { watchPath } from "./path-watch";

/** The reason why a unix socket does not accept a connection; undefined if it does. */
export async function tryConnect(path: string): Promise<Error | undefined> {
  // `connect` walks the path on the main thread: first a call that cannot stop it.
  const found = await findFile(path);
  if (found === "hanging") return timedOut(path);
  // Linux says ECONNREFUSED, as of a socket on which no process listens.
  if (typeof found === "object" && !found.isSocket()) return systemError("ENOTSOCK", "connect ENOTSOCK");
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once("error", resolve);
  });
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
  /** A file that is not a socket, or that cannot be read. */
  | "blocked"
  /** Unknown: the file system does not answer. */
  | "hanging";

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
  return errno === "ECONNREFUSED" ? "dead" : "taken";
}

export interface AcceptingOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Milliseconds between two `Still connecting` lines. @default REMINDERS.connect */
  readonly remindEveryMs?: number | undefined;
  readonly onRefused?: ((problem: Error) => void) | undefined;
  /** Does not resolve with this file before `forMs` milliseconds, because its server may restart. */
  readonly except?: { readonly file: string; readonly forMs: number } | undefined;
}

/** Resolves when the socket accepts, with an identity of its file that differs for each server. Rejects at `signal`. */
export async function untilAccepting(path: string, options: AcceptingOptions): Promise<string> {
  const { signal, remindEveryMs, onRefused, except } = options;
  const log = options.log.named("unix-socket");
  const startedAtMs = performance.now();
  let problem: Error | undefined;
  let reminders = 0;
  const remind = () => {
    const waited = `${Math.round((performance.now() - startedAtMs) / 1000)}s`;
    const lastError = explainConnectError(problem);
    if (lastError) log.info("Still connecting", { address: `unix://${path}`, waited, lastError });
    reminder = setTimeout(remind, remindEveryMs ?? reminderMs(REMINDERS.connect, ++reminders));
  };
  let reminder = setTimeout(remind, remindEveryMs ?? reminderMs(REMINDERS.connect, 0));
  using watch = await watchPath(path, log);
  try {
    for (let attempt = 0; !signal.aborted; attempt++) {
      const file = await fileAt(path);
      problem = await tryConnect(path);
      if (problem !== undefined) onRefused?.(problem);
      // When another socket took its place meanwhile, either may have accepted.
      else if (file !== (await fileAt(path))) continue;
      else if (file !== except?.file) return file;
      const isExcepted = problem === undefined;
      const exceptMs = (except?.forMs ?? 0) - (performance.now() - startedAtMs);
      const waitMs = isExcepted ? exceptMs : backoffMs(BACKOFF.connect, attempt);
      const hinted = await watch.wait(signal, waitMs);
      if (hinted) attempt = -1;
      else if (isExcepted && !signal.aborted) return file;
    }
  } finally {
    clearTimeout(reminder);
  }
  throw signal.reason;
}

/** An identity of the file at a path, or of its absence; it differs for each server that makes its socket. */
async function fileAt(path: string): Promise<string> {
  const found = await findFile(path);
  return typeof found === "string" ? found : versionOf(found);
}

/** Resolves when `file` was replaced or removed, 5 s later at most, or when `signal` is aborted. */
export async function untilReplaced(
  path: string,
  file: string,
  { log, signal }: Pick<AcceptingOptions, "log" | "signal">,
): Promise<void> {
  using watch = await watchPath(path, log);
  while (!signal.aborted) {
    const found = await fileAt(path);
    if (found !== file && found !== "hanging") return; // What hangs may still be there.
    await watch.wait(signal);
  }
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
