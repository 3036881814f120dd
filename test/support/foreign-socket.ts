import { once } from "node:events";
import { renameSync } from "node:fs";
import { createServer, type Socket } from "node:net";

export async function listenInPlace(path: string, onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  // Node unlinks the name it bound when it closes; under another name the file survives, as it does a SIGKILL.
  await once(server.listen(`${path}~`), "listening");
  renameSync(`${path}~`, path);
  const endConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  let ending: Promise<void> | undefined;
  /** Stops listening and cuts its connections; the file stays, as after a SIGKILL. */
  const kill = (): Promise<void> => {
    ending ??= new Promise((resolve) => {
      server.close(() => resolve());
      endConnections();
    });
    return ending;
  };
  const counts = { connections: () => connections, openConnections: () => sockets.size };
  return { ...counts, endConnections, kill, [Symbol.asyncDispose]: kill };
}

export type ForeignSocket = Awaited<ReturnType<typeof startForeignSocket>>;

export const startForeignSocket = (path: string, onConnection: (socket: Socket) => void = () => {}) =>
  listenInPlace(path, (socket) => onConnection(socket.resume()));

export async function leaveDeadSocket(path: string): Promise<void> {
  await using _gone = await startForeignSocket(path);
}
