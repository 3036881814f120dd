import { connect } from "node:net";
import { BACKOFF, backoffMs, REMINDERS, reminderMs } from "../base/backoff";
import { errnoOf } from "../base/errors";
import { untilNextLookMs } from "../base/pause";
import type { Logger } from "../logging/logger";
import { isSocketFile, statsOf } from "./files";
import { watchPath } from "./path-watch";

/** The reason why a unix socket does not accept a connection; undefined if it does. */
export function tryConnect(path: string): Promise<Error | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once("error", resolve);
  });
}

/** Whether this is a socket file that a killed process left behind. */
export async function isDeadSocket(path: string): Promise<boolean> {
  return isSocketFile(path) && errnoOf(await tryConnect(path)) === "ECONNREFUSED";
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

/**
 * Resolves when the socket accepts a connection, with an identity of its file that differs for each server. Logs `Still
 * connecting` until then. Wakes by inotify, else with a backoff of 1 ms to 5 s. Rejects when `signal` is aborted.
 */
export async function untilAccepting(path: string, options: AcceptingOptions): Promise<string> {
  const { signal, remindEveryMs, onRefused, except } = options;
  const log = options.log.named("unix-socket");
  const startedAtMs = performance.now();
  let problem: Error | undefined;
  let reminders = 0;
  const remind = () => {
    const waited = `${Math.round((performance.now() - startedAtMs) / 1000)}s`;
    const lastError = explainConnectError(problem, path);
    if (lastError) log.info("Still connecting", { address: `unix://${path}`, waited, lastError });
    reminder = setTimeout(remind, remindEveryMs ?? reminderMs(REMINDERS.connect, ++reminders));
  };
  let reminder = setTimeout(remind, remindEveryMs ?? reminderMs(REMINDERS.connect, 0));
  const watch = watchPath(path, log);
  try {
    for (let attempt = 0; !signal.aborted; attempt++) {
      const file = fileAt(path);
      problem = await tryConnect(path);
      // When another socket took its place meanwhile, either may have accepted.
      if (problem === undefined && file !== fileAt(path)) continue;
      const isExcepted = problem === undefined && file === except?.file;
      if (problem === undefined && !isExcepted) return file;
      if (problem !== undefined) onRefused?.(problem);
      const waitMs = isExcepted ? except.forMs : backoffMs(BACKOFF.connect, attempt);
      const hinted = await watch.wait(signal, waitMs);
      if (hinted) attempt = -1;
      else if (isExcepted && !signal.aborted) return file;
      else watch.rearm();
    }
  } finally {
    clearTimeout(reminder);
    watch.close();
  }
  throw signal.reason;
}

/** An identity of the file at a path, or of its absence; it differs for each server that makes its socket. */
function fileAt(path: string): string {
  const stats = statsOf(path);
  return [stats?.dev, stats?.ino, stats?.mtimeMs].join();
}

/** Resolves within 5 s after `file` was replaced or removed, or when `signal` is aborted. */
export function untilReplaced(path: string, file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const look = () => {
      clearTimeout(timer);
      if (!signal.aborted && fileAt(path) === file) {
        timer = setTimeout(look, untilNextLookMs());
        return;
      }
      signal.removeEventListener("abort", look);
      resolve();
    };
    signal.addEventListener("abort", look, { once: true });
    look();
  });
}

/** What a failed connection to `path` usually means: its errno and a few words. */
export function explainConnectError(error: Error | undefined, path: string): string | undefined {
  if (error === undefined) return undefined;
  const errno = errnoOf(error);
  // Linux refuses a connection to any other kind of file in the same way.
  if (errno === "ECONNREFUSED" && statsOf(path)?.isSocket() === false)
    return `${errno}: what stands there is no socket`;
  const explanation = errno && CONNECT_EXPLANATIONS[errno];
  return explanation ? `${errno}: ${explanation}` : error.message;
}

const CONNECT_EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "no such socket yet: is the driver running, and is the folder of its socket mounted here?",
  ECONNREFUSED: "nobody listens on this socket: was it left behind by a driver that is gone?",
  EACCES: "permission denied: not running as root, or kept apart by SELinux?",
  ENOTDIR: "part of the path is not a folder",
  ELOOP: "symbolic links on this path lead round in a circle",
  EAGAIN: "more connections wait there than the driver has taken: does it hang?",
  EMFILE: "this process has no file descriptor left: see ulimit -n, and who holds connections to it",
};
