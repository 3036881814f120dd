import { renameSync } from "node:fs";
import { createServer, type Socket } from "node:net";

export type ForeignSocket = Awaited<ReturnType<typeof startForeignSocket>>;

/** Puts a listening socket at `path`, in place of whatever is there, as a registrar that starts later would. */
export async function startForeignSocket(path: string, onConnection: (socket: Socket) => void = () => {}) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.resume();
    onConnection(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(`${path}~`, resolve);
  });
  renameSync(`${path}~`, path);
  let ending: Promise<void> | undefined;
  /** Stops listening and cuts its connections; the file stays, as after a SIGKILL. */
  const kill = (): Promise<void> => {
    ending ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
    return ending;
  };
  return {
    /** How many connections it has had. */
    connections: () => connections,
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** Leaves a socket file on which nobody listens. */
export async function leaveDeadSocket(path: string): Promise<void> {
  await using _gone = await startForeignSocket(path);
}
