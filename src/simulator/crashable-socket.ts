import type { Socket } from "node:net";
import { listenOnSocketFile } from "../unix/socket-file";

/**
 * Listens at `path`, in place of a socket that is there, to end cleanly or as in a crash. Rejects with SOCKET_UNUSABLE, and
 * then has changed nothing.
 */
export async function listenUntilCrash(path: string, onConnection: (connection: Socket) => void) {
  const connections = new Set<Socket>();
  const socket = await listenOnSocketFile(path, (connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  });
  return {
    withdraw: socket.withdraw,
    /** Closes every connection and the listener, and leaves the file behind. */
    crash: (): void => {
      socket.abandon();
      for (const connection of connections) connection.destroy();
    },
  };
}
