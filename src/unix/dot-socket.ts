import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, linkSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { umask } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { attempt, errnoOf, messageOf, RegistrarError } from "../base/errors";
import { isDeadSocket } from "./unix-socket";

/** Within this time kubelet's plugin watcher looks at a new file, even on a busy node. */
const KUBELET_LOOKS_WITHIN_MS = 100;
/** A dot-name lives for moments. A killed process left an older, dead one. */
const LEFTOVER_AFTER_MS = 10_000;
/** As long as the shortest `<driver>-reg.sock`, so that it fits wherever that fits. */
const DOT_NAME = /^\.reg-[0-9a-z]{5}$/;

/**
 * Binds a listening socket in `folder`, open to its owner only (mode 0700), under a name that kubelet's plugin watcher
 * ignores. Rejects with SOCKET_UNUSABLE and a message that begins with `problem`.
 */
export async function bindDotSocket(
  folder: string,
  onConnection: (connection: Socket) => void,
  problem = `cannot make a socket in ${folder}`,
) {
  const dotPath = join(folder, `.reg-${randomWord(5)}`);
  const server = createServer(onConnection);
  try {
    listenPrivately(server, dotPath);
    await once(server, "listening");
    chmodSync(dotPath, 0o700);
    // Device and inode identify the file whatever its name.
    return { dotPath, server, stats: lstatSync(dotPath) };
  } catch (error) {
    server.close();
    throw socketUnusable(problem, folder, error);
  }
}

/**
 * Binds with mode 0700 from the first moment: the umask, which only the main thread may set, differs during this call only,
 * because `listen` binds before it returns. A private folder for the bind would be visible to kubelet: when it vanishes
 * while kubelet walks its folder, kubelet stops the walk for all plugins (`traversePluginDir` in
 * `pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go`).
 */
function listenPrivately(server: Server, path: string): void {
  const former = attempt(() => umask(0o077));
  try {
    server.listen({ path, exclusive: true });
  } finally {
    if (former !== undefined) umask(former);
  }
}

/**
 * Gives the socket its real name. If the name is free, it links a second name and removes the dot-name 100 ms later, because
 * kubelet logs an error if a file from an inotify event is away. Else it renames the dot-name over the old file after 100 ms,
 * so that kubelet sees one Create event. Returns false if the name is taken and `mayReplace` returns false, now or right
 * before the renaming. Rejects with SOCKET_UNUSABLE, and when `signal` is aborted before that.
 */
export async function giveName(
  dotPath: string,
  path: string,
  { mayReplace, signal }: { readonly mayReplace: () => boolean; readonly signal: AbortSignal },
): Promise<boolean> {
  signal.throwIfAborted();
  try {
    linkSync(dotPath, path);
    setTimeout(removeQuietly, KUBELET_LOOKS_WITHIN_MS, dotPath).unref();
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST" && !mayReplace()) return false;
  }
  await delay(KUBELET_LOOKS_WITHIN_MS, undefined, { signal });
  try {
    if (!mayReplace()) return false;
    renameSync(dotPath, path);
    return true;
  } catch (error) {
    throw socketUnusable(`cannot listen on ${path}`, dirname(path), error);
  }
}

/** Removes dot-names that killed processes left behind; ignores failures. */
export async function sweepDotSockets(folder: string, now: () => number = Date.now): Promise<void> {
  try {
    for (const name of readdirSync(folder).filter((one) => DOT_NAME.test(one))) {
      const path = join(folder, name);
      if (now() - lstatSync(path).ctimeMs < LEFTOVER_AFTER_MS) continue;
      if (await isDeadSocket(path)) removeQuietly(path);
    }
  } catch {}
}

export const randomWord = (length: number): string =>
  randomInt(36 ** length)
    .toString(36)
    .padStart(length, "0");

const removeQuietly = (path: string) => attempt(() => rmSync(path, { force: true }));

/** SOCKET_UNUSABLE with the reason behind its errno, for a socket in `folder`. */
export function socketUnusable(problem: string, folder: string, error: unknown): RegistrarError {
  // libuv turns bind's ENOENT into EACCES.
  const isAway = errnoOf(error) === "EACCES" && !existsSync(folder);
  const cause = isAway ? Object.assign(new Error(`ENOENT: ${folder} is away`), { code: "ENOENT" }) : error;
  const errno = errnoOf(cause) ?? "";
  const reason = EXPLANATIONS[errno] ?? messageOf(cause);
  const text = `${problem}: ${errno ? `${errno}: ` : ""}${reason}`;
  return new RegistrarError("SOCKET_UNUSABLE", text, { cause });
}

const NOT_PERMITTED =
  "permission denied: it must be a directory that this user can write to; in a pod that is root, with a fitting SELinux label";

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist: is it mounted?",
  ENOTDIR: "part of the path is not a folder",
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: "the folder is mounted read-only",
  ENOSPC: "no space left on its file system",
};
