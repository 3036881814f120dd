import { once } from "node:events";
import { renameSync } from "node:fs";
import { createServer, type Socket } from "node:net";

export async function listenInPlace(path: string, onConnection: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
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
  return { openConnections: () => sockets.size, endConnections, kill, [Symbol.asyncDispose]: kill };
}

export type ForeignSocket = Awaited<ReturnType<typeof startForeignSocket>>;

export async function startForeignSocket(path: string, onConnection: (socket: Socket) => void = () => {}) {
  let connections = 0;
  const listener = await listenInPlace(path, (socket) => {
    connections += 1;
    socket.resume();
    onConnection(socket);
  });
  return { ...listener, connections: () => connections };
}

export async function leaveDeadSocket(path: string): Promise<void> {
  await using _gone = await startForeignSocket(path);
}
