import { randomInt } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { umask } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { attempt, errnoOf, messageOf, RegistrarError } from "../base/errors";
import { isDeadSocket } from "./unix-socket";

/** A socket that listens under a name which kubelet's plugin watcher ignores. */
export interface DotSocket {
  readonly dotPath: string;
  readonly server: Server;
  /** Device and inode: who the file is, whatever its name. */
  readonly stats: Stats;
}

/** Kubelet's plugin watcher looks at a new file at once; even on a busy node it should have looked by then. */
const KUBELET_LOOKS_WITHIN_MS = 100;
/** A dot-name lives for moments. An older, dead one was left by a process that was killed. */
const LEFTOVER_AFTER_MS = 10_000;
/** As long as the shortest `<driver>-reg.sock`: wherever that fits, this fits. */
const DOT_NAME = /^\.reg-[0-9a-z]{5}$/;

/**
 * Binds a listening socket in `folder`, open to its owner only (mode 0700). Rejects with SOCKET_UNUSABLE; `problem` then
 * begins the message: not with the dot-name, which nobody chose and which is another one each time.
 */
export async function bindDotSocket(
  folder: string,
  onConnection: (connection: Socket) => void,
  problem = `cannot make a socket in ${folder}`,
): Promise<DotSocket> {
  const dotPath = join(folder, `.reg-${randomWord(5)}`);
  const server = createServer(onConnection);
  try {
    listenPrivately(server, dotPath);
    await once(server, "listening");
    chmodSync(dotPath, 0o700);
    return { dotPath, server, stats: lstatSync(dotPath) };
  } catch (error) {
    server.close();
    throw socketUnusable(problem, folder, error);
  }
}

/**
 * Binds with mode 0700 from the first moment, whatever the umask is, which belongs to the process but is another one for
 * this call only: it binds and listens before it returns. Only the main thread may set it. A private folder for the bind
 * would be visible to kubelet: one that vanishes while kubelet looks through its folder ends that look, for all plugins
 * (`traversePluginDir` in `pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go`).
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
 * Gives the socket its real name. Where nothing has that name, a second name is linked and the dot-name goes a moment
 * later, for a kubelet that was told of a file and does not find it logs an error. Otherwise the dot-name is renamed
 * over what is there, after the same moment: kubelet sees one Create event. False where something has the name and
 * `mayReplace` says no; it is asked again right before the renaming, since others may have come meanwhile.
 * Rejects with SOCKET_UNUSABLE, and when `signal` is aborted before the name is given.
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

/** Removes dot-names that killed processes left behind. Failures are ignored. */
export async function sweepDotSockets(folder: string, now: () => number = Date.now): Promise<void> {
  try {
    for (const name of readdirSync(folder).filter((one) => DOT_NAME.test(one))) {
      const path = join(folder, name);
      if (now() - lstatSync(path).ctimeMs < LEFTOVER_AFTER_MS) continue;
      if (await isDeadSocket(path)) removeQuietly(path);
    }
  } catch {}
}

/** So many letters and digits by chance. */
export function randomWord(length: number): string {
  return randomInt(36 ** length)
    .toString(36)
    .padStart(length, "0");
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}

/** SOCKET_UNUSABLE with the reason behind its errno, for a socket in `folder`. */
export function socketUnusable(problem: string, folder: string, error: unknown): RegistrarError {
  // libuv turns bind's ENOENT into EACCES, which would send the reader after permissions.
  const isAway = errnoOf(error) === "EACCES" && !existsSync(folder);
  const errno = isAway ? "ENOENT" : (errnoOf(error) ?? "");
  const reason = EXPLANATIONS[errno] ?? messageOf(error);
  const text = `${problem}: ${errno ? `${errno}: ` : ""}${reason}`;
  return new RegistrarError("SOCKET_UNUSABLE", text, { cause: error });
}

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist: is it mounted?",
  ENOTDIR: "part of the path is not a folder",
  EACCES: "permission denied: run as root, and check SELinux labels of the folder",
  EPERM: "permission denied: run as root, and check SELinux labels of the folder",
  EROFS: "the folder is mounted read-only",
  ENOSPC: "no space left on its file system",
};
