import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { watchPath } from "../unix/path-watch";
import { createSocketFile } from "../unix/socket-file";
import { mayBeOurs } from "../unix/unix-socket";
import { untilDone } from "../unix/until-done";

export type KeptSocket = Awaited<ReturnType<typeof keepListening>>;

/** It may last: a driver of another pod may have the path. */
const REMIND_EVERY_MS = 10 * 60_000;
/** Between two looks at another driver's socket: a process that is killed leaves its file, without an event. */
const LOOK_AT_ANOTHER_MS = 5_000;

/** Listens at `csiAddress`, and again whenever its socket is gone, unless another driver listens there: the newest driver wins. */
export async function keepListening(
  csiAddress: string,
  onConnection: (connection: Socket) => void,
  log: Logger,
) {
  const stop = new AbortController();
  const { signal } = stop;
  const socket = createSocketFile(onConnection, log);
  const publish = (overLiving: boolean) => socket.publish(csiAddress, { overLiving, atOnce: true, signal });
  const another = "Another driver listens on the driver's socket, waiting until it ends";
  const warnOfAnother = createPacedWarning(log, another, REMIND_EVERY_MS);
  const warnOfFailure = createPacedWarning(log, "Cannot listen on the driver's socket again");
  const onFailure = (err: unknown) => warnOfFailure({ err, csiAddress });

  await publish(true);
  const watch = await watchPath(csiAddress, log);
  const watching = (async () => {
    while (!signal.aborted) {
      const isKept = mayBeOurs(await socket.look(csiAddress, signal));
      const again = () => untilDone(() => publish(false), { path: csiAddress, log, signal, onFailure });
      const end = isKept ? undefined : await again();
      if (end?.kind === "in-place") log.warn("The driver's socket was gone, listening again", { csiAddress });
      if (end?.kind === "taken") warnOfAnother({ csiAddress });
      await watch.wait(signal, end?.kind === "taken" ? LOOK_AT_ANOTHER_MS : undefined);
    }
  })();

  return {
    /** Accepts no more, and removes the file if it is still this socket's. Open connections stay open. Never rejects. */
    withdraw: async (): Promise<void> => {
      stop.abort();
      watch.close();
      await watching;
      await socket
        .close()
        .catch((error: unknown) => log.error(error, "Cannot remove the driver's socket", { csiAddress }));
    },
  };
}
