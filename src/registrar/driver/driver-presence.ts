import type { Logger } from "../../logging/logger";
import { statsOf } from "../../sockets/files";
import { tryConnect } from "../../sockets/unix-socket";

/** Whether a CSI driver is there, as its connections tell. Each loss and each return is one log line. */
export interface DriverPresence {
  readonly isThere: boolean;
  /** To be called before a connection is made: what stands at the path then is what will be connected to. */
  connecting(): DriverConnection;
}

/** What happened to one connection. */
export interface DriverConnection {
  /** The driver has answered. Tells for how many milliseconds it was lost before; undefined where it was not. */
  answered(): number | undefined;
  /** The driver did not answer: if it was there, it is lost. */
  failed(): void;
  /** The connection has ended after an answer: the driver is lost, unless it merely ended a connection. */
  ended(): Promise<void>;
  /** Whether another socket file, or none, is at the path by now: the driver restarts. */
  readonly isReplaced: boolean;
  /** Milliseconds since the answer. */
  readonly lastedMs: number;
}

/**
 * Tells a driver that has gone from a server that ended a connection for its age, or because it was idle: the latter
 * still accepts on the same socket file, where a driver that is started anew makes another one.
 */
export function createDriverPresence(
  socketPath: string,
  context: { readonly log: Logger; readonly signal: AbortSignal; readonly onLost: () => void },
): DriverPresence {
  const log = context.log.named("driver-presence");
  const address = `unix://${socketPath}`;
  /** The socket file behind which the driver answered, until it is known to have gone. */
  let present: string | undefined;
  /** Milliseconds of `performance.now()`. */
  let answeredAtMs = 0;
  let lostAtMs: number | undefined;

  const lose = () => {
    present = undefined;
    lostAtMs = performance.now();
    log.error(undefined, "Lost connection", {
      address,
      lasted: `${Math.round(lostAtMs - answeredAtMs) / 1000}s`,
    });
    context.onLost();
  };

  const connecting = (): DriverConnection => {
    const file = socketFileOf(socketPath);
    return {
      answered: () => {
        if (present !== undefined && present !== file) lose();
        const awayMs = lostAtMs === undefined ? undefined : Math.round(performance.now() - lostAtMs);
        if (awayMs !== undefined) log.info("Connection restored", { address, after: `${awayMs / 1000}s` });
        present = file;
        answeredAtMs = performance.now();
        lostAtMs = undefined;
        return awayMs;
      },
      failed: () => {
        if (present !== undefined) lose();
      },
      ended: async () => {
        const isSameFile = file !== undefined && file === socketFileOf(socketPath);
        const isStillServed = isSameFile && (await tryConnect(socketPath)) === undefined;
        if (context.signal.aborted) return;
        if (isStillServed) log.v(2).info("The driver ended a connection, and is still there", { address });
        else lose();
      },
      get isReplaced() {
        return file !== socketFileOf(socketPath);
      },
      get lastedMs() {
        return performance.now() - answeredAtMs;
      },
    };
  };

  return {
    get isThere() {
      return present !== undefined;
    },
    connecting,
  };
}

/** Stands for a socket file; undefined where there is none. */
function socketFileOf(path: string): string | undefined {
  const stats = statsOf(path);
  return stats && [stats.dev, stats.ino, stats.mtimeMs].join();
}
