import { lstatSync, renameSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { RegistrarError } from "../errors";
import { bindDotSocket, socketUnusable } from "../sockets/dot-socket";

/** A driver's socket, listening. */
export interface DriverSocket {
  /** Accepts no more, and removes the file if it is still this socket's. */
  withdraw(): void;
}

/**
 * Listens at `path`, with mode 0700. It is bound under another name and renamed, so that whoever finds it finds it
 * listening, and a socket that is there, dead or alive, is replaced in one step: the newest driver wins.
 *
 * Rejects with SOCKET_UNUSABLE, and then has changed nothing: also where something that is no socket has the name.
 */
export async function listenAsDriver(
  path: string,
  onConnection: (connection: Socket) => void,
): Promise<DriverSocket> {
  const statsNow = () => lstatSync(path, { throwIfNoEntry: false });
  if (statsNow()?.isSocket() === false)
    throw new RegistrarError("SOCKET_UNUSABLE", `cannot listen on ${path}: what stands there is no socket`);
  const { dotPath, server, stats } = await bindDotSocket(dirname(path), onConnection);
  try {
    renameSync(dotPath, path);
  } catch (error) {
    server.close(); // That removes the dot-name too.
    throw socketUnusable(`cannot listen on ${path}`, dirname(path), error);
  }
  return {
    withdraw: () => {
      server.close();
      const now = statsNow();
      if (now?.ino === stats.ino && now.dev === stats.dev) rmSync(path, { force: true });
    },
  };
}
