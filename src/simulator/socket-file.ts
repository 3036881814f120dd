import { lstatSync, renameSync, rmSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { dirname } from "node:path";
import { errnoOf, messageOf, RegistrarError } from "../errors";
import { bindDotSocket } from "../sockets/dot-socket";
import { isSameFile } from "../sockets/files";

/** A listening unix socket that can end cleanly or as in a crash. */
export interface SocketFile {
  /** Accepts no more and removes the file if it is still this socket's; open connections stay open. */
  withdraw(): void;
  /** Cuts every connection and leaves the file behind, though nobody listens on it. */
  crash(): void;
}

/**
 * Listens at `path`, in place of a socket that is there. Bound under another name and renamed, because Node removes
 * the name it was bound to when it stops, and a crash leaves its socket behind.
 * Rejects with SOCKET_UNUSABLE, and then has changed nothing.
 */
export async function listenOnFile(
  path: string,
  onConnection: (connection: Socket) => void,
): Promise<SocketFile> {
  const connections = new Set<Socket>();
  const accept = (connection: Socket) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  };
  const statsNow = () => lstatSync(path, { throwIfNoEntry: false });
  let bound: Awaited<ReturnType<typeof bindDotSocket>> | undefined;
  let server: Server;
  try {
    if (statsNow()?.isSocket() === false) throw new Error("not a socket");
    bound = await bindDotSocket(dirname(path), accept);
    server = bound.server;
    renameSync(bound.dotPath, path);
  } catch (cause) {
    bound?.server.close();
    const advice = "its folder must exist and be writable, and no other file may have this path";
    const text = `cannot listen on ${path}: ${errnoOf(cause) ?? errnoOf((cause as Error).cause) ?? messageOf(cause)}; ${advice}`;
    throw new RegistrarError("SOCKET_UNUSABLE", text, { cause });
  }
  const { stats } = bound;
  return {
    withdraw: () => {
      server.close();
      const found = statsNow();
      if (found && isSameFile(found, stats)) rmSync(path, { force: true });
    },
    crash: () => {
      server.close();
      for (const connection of connections) connection.destroy();
    },
  };
}
