import type { Socket } from "node:net";
import { messageOf } from "../base/errors";
import type { Logger } from "../logging/logger";
import { watchPath } from "../unix/path-watch";
import { createSocketFile } from "../unix/socket-file";

export type KeptSocket = Awaited<ReturnType<typeof keepListening>>;

/** In case inotify misses an event. */
const LOOK_EVERY_MS = 5_000;

/**
 * Listens at `path`, and again whenever its socket is gone. Another process' socket that listens there stays as long as
 * that process lives: the newest driver wins. Rejects with SOCKET_UNUSABLE where it cannot listen at first.
 */
export async function keepListening(
  path: string,
  onConnection: (connection: Socket) => void,
  parentLog: Logger,
) {
  const log = parentLog.named("driver-socket");
  const stop = new AbortController();
  const { signal } = stop;
  const socket = createSocketFile(onConnection, log);
  await socket.publish(path, { overLiving: true, signal });
  const watch = await watchPath(path, log);
  let logged = "";
  const logOnce = (problem: string, write: () => void) => {
    if (problem !== logged) write();
    logged = problem;
  };

  const lookAfter = async (): Promise<void> => {
    if ((await socket.look(path)) === "ours") return;
    const message = "Another process listens on the driver's socket, waiting until it ends";
    if ((await socket.publish(path, { overLiving: false, signal })) === "taken")
      return logOnce("taken", () => log.warn(message, { csiAddress: path }));
    logged = "";
    log.warn("The driver's socket was not there any more, listening again", { csiAddress: path });
  };

  const watching = (async () => {
    while (!signal.aborted) {
      await watch.wait(signal, LOOK_EVERY_MS);
      if (signal.aborted) return;
      await watch.rearm();
      await lookAfter().catch((error: unknown) => {
        if (signal.aborted) return;
        const message = "Cannot listen on the driver's socket again";
        logOnce(messageOf(error), () => log.error(error, message, { csiAddress: path }));
      });
    }
  })();

  return {
    /** Accepts no more, and removes the file if it is still this socket's. Open connections stay open. Never rejects. */
    withdraw: async (): Promise<void> => {
      stop.abort();
      watch.close();
      await watching;
      await socket
        .withdraw()
        .catch((error: unknown) =>
          log.error(error, "Cannot remove the driver's socket", { csiAddress: path }),
        );
    },
  };
}
