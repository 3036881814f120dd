import { lstat, unlink } from "node:fs/promises";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errnoOf, RegistrarError } from "../../base/errors";
import type { Logger } from "../../logging/logger";
import {
  bindDotSocket,
  closeDotSocket,
  type DotSocket,
  giveName,
  socketUnusable,
} from "../../unix/dot-socket";
import { callFileSystem, timedOut } from "../../unix/file-calls";
import { type FileFound, findFile, findLink, isSameFile, isSameSocket } from "../../unix/files";
import { checkSocketPathLength } from "../../unix/socket-path";
import { tryConnect } from "../../unix/unix-socket";
import type { SocketFound } from "../model/state";

/** A registrar that starts binds its socket before it listens; a tight CPU limit may delay it in between. */
const LISTENS_WITHIN_MS = 150;

export type RegistrationSocket = ReturnType<typeof createRegistrationSocket>;

interface Published extends DotSocket {
  readonly withdrawn: AbortController;
  readonly path: string;
}

/**
 * Makes the owner of one registration socket file; creates nothing before `publish`. It binds under a dot-name, which
 * kubelet's plugin watcher ignores, gives the file its real name when it already listens, and removes only its own inode:
 * a closed listener makes libuv unlink the name it was bound to, and that is the dot-name. A connection comes with the
 * signal of its publication, which is aborted when that is withdrawn or replaced.
 */
export function createRegistrationSocket(
  onConnection: (connection: Socket, withdrawn: AbortSignal) => void,
  parentLog: Logger,
) {
  const log = parentLog.named("registration-socket");
  let published: Published | undefined;

  const judge = async (path: string): Promise<SocketFound> => {
    const found = await findLink(path);
    if (typeof found === "string") return found;
    if (published?.path === path && isSameFile(found, published.stats)) return "ours";
    if (!found.isSocket()) return "blocked";
    const problem = await tryConnect(path);
    if (problem === undefined) return "taken";
    const errno = errnoOf(problem);
    if (errno === "ENOENT") return "gone";
    return errno === "ECONNREFUSED" ? "dead" : "taken";
  };

  const look = async (path: string): Promise<SocketFound> => {
    const found = await judge(path);
    if (found !== "dead") return found;
    await delay(LISTENS_WITHIN_MS);
    return judge(path);
  };

  const retire = async (former: Published) => {
    former.withdrawn.abort();
    await closeDotSocket(former);
  };

  /** Removes our socket if it is still ours, and stops listening. Open connections stay open. */
  const withdraw = async (): Promise<void> => {
    if (published === undefined) return;
    const ours = published;
    const { path, stats } = ours;
    published = undefined;
    await retire(ours);
    const found = await findLink(path);
    if (typeof found === "string" || !isSameFile(found, stats)) return;
    try {
      await callFileSystem(path, () => unlink(path));
    } catch (error) {
      // Another process may be clearing the directory at this moment.
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  };

  return {
    get path(): string | undefined {
      return published?.path;
    },
    look,
    /** Whether the directory in which our socket was published is still there: not removed, not replaced. */
    hasDirectory: async (): Promise<boolean> => {
      if (published === undefined) return false;
      const [before, now] = [published.directory, await findFile(dirname(published.path))];
      if (typeof now === "string") return now !== "gone";
      // A removed directory that is still mounted has no link left; its inode number may be used again.
      return now.nlink > 0 && isSameFile(before, now) && before.birthtimeMs === now.birthtimeMs;
    },
    /**
     * Puts a fresh socket at `path` in place of the socket that is there; with `overLiving` also if another process
     * listens on it. Resolves with what was there before: `taken` without `overLiving` means that ours is not there.
     * Withdraws our socket at another path right before: at kubelet the end of one of two sockets deregisters the driver
     * for both. Rejects with SOCKET_UNUSABLE, and when `signal` is aborted, after which nothing more becomes visible; ours
     * may be withdrawn by then.
     */
    publish: async (
      path: string,
      { overLiving, signal }: { readonly overLiving: boolean; readonly signal: AbortSignal },
    ): Promise<SocketFound> => {
      checkSocketPathLength(path, "the registration socket");
      const there = await findLink(path);
      const before = await (overLiving ? judge(path) : look(path));
      if (before === "hanging") throw socketUnusable(`cannot look at ${path}`, timedOut(path));
      if (before === "blocked") throw await explainBlocked(path);
      if (before === "taken" && !overLiving) return before;
      const withdrawn = new AbortController();
      const next = await bindDotSocket(dirname(path), (connection) =>
        onConnection(connection, withdrawn.signal),
      );
      next.server.on("error", (error) =>
        log.error(error, "Cannot accept a connection", { socketPath: path }),
      );
      try {
        if (published?.path !== path) await withdraw();
        const mayReplace = async () => overLiving || isStillThere(there, await findLink(path));
        if (!(await giveName(next.dotPath, path, { mayReplace, signal }))) {
          await closeDotSocket(next);
          return "taken";
        }
      } catch (error) {
        await closeDotSocket(next);
        throw error;
      }
      if (published) retire(published).catch(() => {}); // It does not fail.
      published = { ...next, withdrawn, path };
      return before;
    },
    withdraw,
  };
}

async function explainBlocked(path: string): Promise<RegistrarError> {
  try {
    await callFileSystem(path, () => lstat(path));
  } catch (error) {
    return socketUnusable(`cannot look at ${path}`, error);
  }
  const advice = "it is left alone; remove it, or use another plugin registration path";
  return new RegistrarError("SOCKET_UNUSABLE", `${path} exists but is not a socket: ${advice}`);
}

/** Whether the file is still the one that was judged: of two registrars that find a dead socket, one may replace it. */
function isStillThere(judged: FileFound, now: FileFound): boolean {
  if (typeof now === "string" || typeof judged === "string") return now === "gone";
  return isSameSocket(judged, now);
}
