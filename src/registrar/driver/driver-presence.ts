import type { Logger } from "../../logging/logger";

/** Makes the record of whether a CSI driver is there, which it is not yet. Each loss and each return is one log line. */
export function createDriverPresence(parentLog: Logger, onLost: () => void) {
  const log = parentLog.named("driver-presence");
  /** The socket file behind which the driver answered, until it is known to have gone. */
  let present: string | undefined;
  /** Milliseconds of `performance.now()`. */
  let answeredAtMs = 0;
  let lostAtMs: number | undefined;

  /** It does not accept connections, or does not answer: if it was there, it is lost. */
  const lost = () => {
    if (present === undefined) return;
    present = undefined;
    lostAtMs = performance.now();
    log.error(undefined, "Lost connection", { lasted: `${Math.round(lostAtMs - answeredAtMs) / 1000}s` });
    onLost();
  };

  return {
    lost,
    /**
     * A server accepts connections on this socket file. The driver that answered on the same file merely ended a
     * connection, for its age or because it was idle; behind another file it was started anew, and so lost.
     */
    found: (file: string) => {
      if (present === file) log.v(2).info("The driver ended a connection, and is still there");
      else lost();
    },
    /** It has answered. For how many milliseconds it was lost before; undefined where it was not. */
    answered: (file: string): number | undefined => {
      const awayMs = lostAtMs === undefined ? undefined : Math.round(performance.now() - lostAtMs);
      if (awayMs !== undefined) log.info("Connection restored", { after: `${awayMs / 1000}s` });
      present = file;
      answeredAtMs = performance.now();
      lostAtMs = undefined;
      return awayMs;
    },
  };
}
