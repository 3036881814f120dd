import { statSync } from "node:fs";
import type { Logger } from "../../logging/logger";
import { tryConnect } from "../../sockets/unix-socket";

/** Whether a CSI driver is there, as its connections tell. Each loss and each return is one log line. */
export interface DriverPresence {
  readonly isThere: boolean;
  /** To be called before a connection is made: what stands at the path then is what will be connected to. */
  connecting(): DriverConnection;
}

/** What becomes of one connection. */
export interface DriverConnection {
  /** The driver has answered. Tells for how many milliseconds it was lost before; undefined where it was not. */
  answered(): number | undefined;
  /** The driver did not answer: if it was there, it is lost. */
  failed(): void;
  /** The connection has ended after an answer: the driver is lost, unless it merely ended a connection. */
  ended(): Promise<void>;
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
  let answeredAt = 0;
  let lostAt: number | undefined;

  const lose = () => {
    present = undefined;
    lostAt = Date.now();
    log.error(undefined, "Lost connection", { address, lasted: `${(lostAt - answeredAt) / 1000}s` });
    context.onLost();
  };

  const connecting = (): DriverConnection => {
    const file = socketFileOf(socketPath);
    return {
      answered: () => {
        if (present !== undefined && present !== file) lose();
        const awayMs = lostAt === undefined ? undefined : Date.now() - lostAt;
        if (awayMs !== undefined) log.info("Connection restored", { address, after: `${awayMs / 1000}s` });
        present = file;
        answeredAt = Date.now();
        lostAt = undefined;
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
      get lastedMs() {
        return Date.now() - answeredAt;
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
  try {
    const { dev, ino, mtimeMs } = statSync(path);
    return [dev, ino, mtimeMs].join();
  } catch {
    return undefined;
  }
}
