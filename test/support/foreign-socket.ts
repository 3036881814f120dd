import { renameSync } from "node:fs";
import { createServer, type Socket } from "node:net";

/** A listening socket of somebody else's. */
export interface ForeignSocket extends AsyncDisposable {
  /** How many connections it has had. */
  connections(): number;
  /** Stops listening and cuts its connections; the file stays, as after a SIGKILL. */
  kill(): Promise<void>;
}

/** Puts a listening socket at `path`, in place of whatever is there, as a registrar that starts later would. */
export async function startForeignSocket(
  path: string,
  onConnection: (socket: Socket) => void = () => {},
): Promise<ForeignSocket> {
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
  const kill = () => {
    ending ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
    return ending;
  };
  return { connections: () => connections, kill, [Symbol.asyncDispose]: kill };
}

/** Leaves a socket file on which nobody listens. */
export async function leaveDeadSocket(path: string): Promise<void> {
  await using _gone = await startForeignSocket(path);
}
