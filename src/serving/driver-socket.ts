import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { watchPath } from "../unix/path-watch";
import { createSocketFile } from "../unix/socket-file";

export type KeptSocket = Awaited<ReturnType<typeof keepListening>>;

/** It may last: a driver of another pod may have the path. */
const REMIND_EVERY_MS = 10 * 60_000;

/** Listens at `csiAddress`, and again whenever its socket is gone, unless another process listens there: the newest driver wins. */
export async function keepListening(
  csiAddress: string,
  onConnection: (connection: Socket) => void,
  parentLog: Logger,
) {
  const log = parentLog.named("driver-socket");
  const stop = new AbortController();
  const { signal } = stop;
  const socket = createSocketFile(onConnection, log);
  await socket.publish(csiAddress, { overLiving: true, atOnce: true, signal });
  const watch = await watchPath(csiAddress, log);
  const another = "Another process listens on the driver's socket, waiting until it ends";
  const warnOfAnother = createPacedWarning(log, another, REMIND_EVERY_MS);
  const warnOfFailure = createPacedWarning(log, "Cannot listen on the driver's socket again");

  const lookAfter = async (): Promise<void> => {
    if ((await socket.look(csiAddress)) === "ours") return;
    const found = await socket.publish(csiAddress, { overLiving: false, atOnce: true, signal });
    if (found === "taken") warnOfAnother({ csiAddress });
    else log.warn("The driver's socket was gone, listening again", { csiAddress });
  };

  const watching = (async () => {
    while (!signal.aborted) {
      await watch.wait(signal);
      if (signal.aborted) return;
      await lookAfter().catch((err: unknown) => signal.aborted || warnOfFailure({ err, csiAddress }));
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
        .catch((error: unknown) => log.error(error, "Cannot remove the driver's socket", { csiAddress }));
    },
  };
}
