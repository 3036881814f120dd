import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { keepPublished } from "../unix/kept-socket";
import { watchPath } from "../unix/path-watch";
import type { PublishEnd } from "../unix/publish-steps";
import { createSocketFile } from "../unix/socket-file";

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
  const onEnd = ({ kind }: PublishEnd) => {
    if (kind === "in-place") log.warn("The driver's socket was gone, listening again", { csiAddress });
    if (kind !== "taken") return undefined;
    warnOfAnother({ csiAddress });
    return LOOK_AT_ANOTHER_MS;
  };
  const again = () => publish(false);
  const watching = keepPublished(csiAddress, {
    ...{ socket, watch, publish: again, onFailure, onEnd, log, signal },
  });

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
