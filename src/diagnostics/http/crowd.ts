import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/paced-warning";
import {
  ALWAYS_ALLOWED_CONNECTIONS,
  descriptorShortage,
  SHORTAGE_CHECK,
} from "../../sockets/descriptor-shortage";
import type { HttpConnection } from "./connection";

/** The connections of one listener. */
export interface Crowd {
  /** Lets a connection in; perhaps another one goes for it. */
  admit(connection: HttpConnection): void;
  /** Closes them all. */
  disperse(): void;
}

/**
 * Holds connections to `max`, and to fewer where file descriptors run short. One more is let in all the same, as it may
 * be kubelet's probe: the oldest goes on which no request is being answered, else the oldest, never the newest.
 *
 * They go when all that have come were listened to once. Of hundreds that come in one moment a probe would otherwise be
 * among the oldest before anybody has read what it asks.
 */
export function createCrowd(max: number, log: Logger): Crowd {
  const warnOfCrowd = createPacedWarning(log, "Too many HTTP connections, closed one");
  const warnOfShortage = createPacedWarning(log, "File descriptors run short, closed an HTTP connection");
  /** In the order of their coming. */
  const open = new Set<HttpConnection>();
  let isTrimDue = false;

  function closeOne(shortage?: string): void {
    const all = [...open].slice(0, -1);
    const idle = all.find(({ isAnswering }) => !isAnswering);
    const victim = idle ?? all[0];
    if (victim === undefined) return;
    const closed = idle ? "oldest idle" : "oldest";
    if (shortage === undefined) warnOfCrowd({ limit: max, closed });
    else warnOfShortage({ err: shortage, closed, check: SHORTAGE_CHECK });
    open.delete(victim);
    victim.socket.destroy();
  }

  function trim(): void {
    isTrimDue = false;
    while (open.size > max) closeOne();
  }

  return {
    admit(connection) {
      const shortage = open.size >= ALWAYS_ALLOWED_CONNECTIONS ? descriptorShortage() : undefined;
      open.add(connection);
      connection.socket.once("close", () => open.delete(connection));
      if (shortage !== undefined) closeOne(shortage);
      if (isTrimDue || open.size <= max) return;
      isTrimDue = true;
      // The event loop reads from what it accepted one turn later.
      setImmediate(() => setImmediate(trim));
    },
    disperse() {
      for (const { socket } of open) socket.destroy();
    },
  };
}
