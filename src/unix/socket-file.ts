import { lstat, unlink } from "node:fs/promises";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errnoOf, systemError } from "../base/errors";
import type { Logger } from "../logging/logger";
import { bindDotSocket, closeDotSocket, type DotSocket, giveName, socketUnusable } from "./dot-socket";
import { callFileSystem } from "./file-calls";
import { type FileFound, findFile, findLink, isSameFile, isSameSocket } from "./files";
import { fitsSocketPath } from "./socket-path";
import { judgeSocket, type SocketFound } from "./unix-socket";

/** A registrar that starts binds its socket before it listens; a tight CPU limit may delay it in between. */
const LISTENS_WITHIN_MS = 150;

export type SocketFile = ReturnType<typeof createSocketFile>;

interface Published extends DotSocket {
  readonly withdrawn: AbortController;
  readonly path: string;
}

/**
 * Makes the owner of one socket file; creates nothing before `publish`. It binds under a dot-name, which
 * kubelet's plugin watcher ignores, gives the file its real name when it already listens, and removes only its own inode:
 * a closed listener makes libuv unlink the name it was bound to, and that is the dot-name. A connection comes with the
 * signal of its publication, which is aborted when that is withdrawn or replaced.
 */
export function createSocketFile(
  onConnection: (connection: Socket, withdrawn: AbortSignal) => void,
  parentLog: Logger,
) {
  const log = parentLog.named("socket-file");
  let published: Published | undefined;

  const judge = (path: string): Promise<SocketFound> =>
    judgeSocket(path, (found) => published?.path === path && isSameFile(found, published.stats));

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

  /** Accepts no more, and leaves the file behind like a killed process. Open connections stay open. */
  const abandon = async (): Promise<Published | undefined> => {
    const former = published;
    published = undefined;
    if (former) await retire(former);
    return former;
  };

  /** The same, but removes the file if it is still ours. */
  const withdraw = async (): Promise<void> => {
    const former = await abandon();
    if (former === undefined) return;
    const { path, stats } = former;
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
      { overLiving, signal }: { readonly overLiving: boolean; readonly signal?: AbortSignal },
    ): Promise<SocketFound> => {
      if (!fitsSocketPath(path)) throw socketUnusable(path, systemError("ENAMETOOLONG"));
      const there = await findLink(path);
      const before = await (overLiving ? judge(path) : look(path));
      if (before === "hanging" || before === "blocked") throw socketUnusable(path, await whyBlocked(path));
      if (before === "taken" && !overLiving) return before;
      const withdrawn = new AbortController();
      const next = await bindDotSocket(path, (connection) => onConnection(connection, withdrawn.signal));
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
    abandon,
  };
}

const whyBlocked = (path: string): Promise<unknown> =>
  callFileSystem(path, () => lstat(path)).then(
    () => systemError("ENOTSOCK"),
    (error: unknown) => error,
  );

/** Whether the file is still the one that was judged: of two registrars that find a dead socket, one may replace it. */
function isStillThere(judged: FileFound, now: FileFound): boolean {
  if (typeof now === "string" || typeof judged === "string") return now === "gone";
  return isSameSocket(judged, now);
}
