import type { Socket } from "node:net";
import { listenOnSocketFile } from "../sockets/socket-file";

/** A listening unix socket that can end cleanly or as in a crash. */
export interface CrashableSocket {
  /** Accepts no more and removes the file if it is still this socket's; open connections stay open. */
  withdraw(): void;
  /** Cuts every connection and leaves the file behind, though nobody listens on it. */
  crash(): void;
}

/** Listens at `path`, in place of a socket that is there. Rejects with SOCKET_UNUSABLE, and then has changed nothing. */
export async function listenUntilCrash(
  path: string,
  onConnection: (connection: Socket) => void,
): Promise<CrashableSocket> {
  const connections = new Set<Socket>();
  const socket = await listenOnSocketFile(path, (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  });
  return {
    withdraw: socket.withdraw,
    crash: () => {
      socket.abandon();
      for (const connection of connections) connection.destroy();
    },
  };
}
