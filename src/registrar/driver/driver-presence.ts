import type { Logger } from "../../logging/logger";

/** Makes the record of whether a CSI driver is there; at first it is not. Logs each loss and each return once. */
export function createDriverPresence(parentLog: Logger, onLost: () => void) {
  const log = parentLog.named("driver-presence");
  /** The socket file behind which the driver answered; undefined after it was lost. */
  let present: string | undefined;
  /** Milliseconds of `performance.now()`. */
  let answeredAtMs = 0;
  let lostAtMs: number | undefined;

  /** The driver accepts no connections, or does not answer. */
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
     * A server accepts connections on this socket file. On the same file as before, the driver merely ended a connection,
     * for its age or because it was idle; on another file it was started anew, and so lost.
     */
    found: (file: string) => {
      if (present === file) log.v(2).info("The driver ended a connection, and is still there");
      else lost();
    },
    /** The driver has answered. Returns for how many milliseconds it was lost; undefined if it was not. */
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
