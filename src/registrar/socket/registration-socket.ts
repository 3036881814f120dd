import { lstatSync, type Stats, unlinkSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errnoOf, RegistrarError } from "../../base/errors";
import type { Logger } from "../../logging/logger";
import { bindDotSocket, giveName, socketUnusable } from "../../unix/dot-socket";
import { isSameFile, isSameSocket, linkStatsOf } from "../../unix/files";
import { checkSocketPathLength } from "../../unix/socket-path";
import { tryConnect } from "../../unix/unix-socket";
import type { SocketFound } from "../model/state";

type LinkStats = ReturnType<typeof linkStatsOf>;

/** A registrar that starts binds its socket before it listens; with a tight CPU limit it may be held up in between. */
const LISTENS_WITHIN_MS = 150;

/**
 * Owner of one registration socket file. Binds under a dot-name, which kubelet's plugin watcher ignores, gives the
 * file its real name when it already listens, and removes nothing but its own inode. Closing a listener makes libuv
 * unlink the name it was bound to: the dot-name, which is nobody else's.
 */
export interface RegistrationSocket {
  /** Where our socket was last published; undefined before. */
  readonly path: string | undefined;
  /**
   * Puts a fresh socket at `path`, in place of whatever socket is there; a living one of somebody else is replaced
   * only with `overLiving`. Answers what was there before: `taken` without `overLiving` means that ours is not there.
   * Where ours was at another path it is withdrawn right before: never two visible sockets for one driver, for at
   * kubelet the end of either deregisters both. Rejects with SOCKET_UNUSABLE, and when `signal` is aborted, after which
   * nothing more becomes visible; ours may be withdrawn by then.
   */
  publish(
    path: string,
    options: { readonly overLiving: boolean; readonly signal: AbortSignal },
  ): Promise<SocketFound>;
  /** Finds out what stands at `path`. */
  look(path: string): Promise<SocketFound>;
  /** Removes our socket if it is still ours, and stops listening. Connections that are open stay open. */
  withdraw(): void;
}

interface Published {
  readonly withdrawn: AbortController;
  readonly path: string;
  readonly server: Server;
  readonly stats: Stats;
}

/**
 * Makes the owner of a registration socket; nothing is created before `publish`. Each connection comes with the signal of
 * the publication that it was made to: aborted when that is withdrawn or replaced.
 */
export function createRegistrationSocket(
  onConnection: (connection: Socket, withdrawn: AbortSignal) => void,
  parentLog: Logger,
): RegistrationSocket {
  const log = parentLog.named("registration-socket");
  let published: Published | undefined;

  const judge = async (path: string): Promise<SocketFound> => {
    const found = linkStatsOf(path);
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

  const retire = () => {
    published?.withdrawn.abort();
    published?.server.close();
    published = undefined;
  };

  const withdraw = () => {
    if (published === undefined) return;
    const { path, stats } = published;
    retire();
    const found = linkStatsOf(path);
    if (typeof found === "string" || !isSameFile(found, stats)) return;
    try {
      unlinkSync(path);
    } catch (error) {
      // Another process may be clearing the folder at this moment.
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  };

  return {
    get path() {
      return published?.path;
    },
    look,
    publish: async (path, { overLiving, signal }) => {
      checkSocketPathLength(path, "the registration socket");
      const there = linkStatsOf(path);
      const before = await (overLiving ? judge(path) : look(path));
      if (before === "blocked") throw explainBlocked(path);
      if (before === "taken" && !overLiving) return before;
      const withdrawn = new AbortController();
      const next = await bindDotSocket(dirname(path), (connection) =>
        onConnection(connection, withdrawn.signal),
      );
      next.server.on("error", (error) =>
        log.error(error, "Cannot accept a connection", { socketPath: path }),
      );
      try {
        if (published?.path !== path) withdraw();
        const mayReplace = () => overLiving || isStillThere(there, linkStatsOf(path));
        if (!(await giveName(next.dotPath, path, { mayReplace, signal }))) {
          next.server.close();
          return "taken";
        }
      } catch (error) {
        next.server.close();
        throw error;
      }
      retire();
      published = { withdrawn, path, server: next.server, stats: next.stats };
      return before;
    },
    withdraw,
  };
}

function explainBlocked(path: string): RegistrarError {
  try {
    lstatSync(path);
  } catch (error) {
    return socketUnusable(`cannot look at ${path}`, dirname(path), error);
  }
  const advice = "it is left alone; remove it, or use another plugin registration path";
  return new RegistrarError("SOCKET_UNUSABLE", `${path} exists but is not a socket: ${advice}`);
}

/** Whether what was judged is what would be replaced now: of two that find the same dead socket, only one may. */
function isStillThere(judged: LinkStats, now: LinkStats): boolean {
  if (typeof now === "string" || typeof judged === "string") return now === "gone";
  return isSameSocket(judged, now);
}
