import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/paced-warning";
import { ALWAYS_ALLOWED_CONNECTIONS, descriptorShortage, SHORTAGE_CHECK } from "./descriptor-shortage";

/** How the connections of one listener are bounded. */
export interface CrowdOptions<Connection> {
  readonly max: number;
  /** So long a connection may take to say what it came for, while there are no more than twice `max`. @default 0 */
  readonly settleMs?: number;
  /** The order in which connections are closed, by their name in the log. The first non-empty class loses one. */
  readonly goFirst: Readonly<Record<string, (connection: Connection) => boolean>>;
  /** What the log says of a connection that was closed, and why. */
  readonly messages: { readonly crowd: string; readonly shortage: string };
  readonly log: Logger;
}

/** The connections of one listener. */
export interface Crowd<Connection> {
  /** In the order of their coming. */
  readonly members: readonly Connection[];
  /** Lets a connection in; perhaps another one goes for it. It leaves by itself when its socket is closed. */
  admit(connection: Connection): void;
  /** Cuts all of them off. */
  disperse(): void;
}

/**
 * Holds connections to `max`, and to fewer where file descriptors run short. One more is let in all the same, as it may
 * be kubelet's: the oldest goes that is among those to go first, else the oldest, never the newest.
 *
 * They go when all that have come were listened to once. Of hundreds that come in one moment kubelet's would otherwise be
 * among the oldest before anybody has read what it asks. Where a client has to hear from us before it asks, that takes
 * `settleMs`.
 */
export function createCrowd<Connection extends { readonly socket: Socket }>({
  max,
  settleMs = 0,
  goFirst,
  messages,
  log,
}: CrowdOptions<Connection>): Crowd<Connection> {
  const warnOfCrowd = createPacedWarning(log, messages.crowd);
  const warnOfShortage = createPacedWarning(log, messages.shortage);
  const order = Object.entries({ ...goFirst, oldest: () => true });
  /** When each came, in the order of their coming. */
  const open = new Map<Connection, number>();
  let isTrimDue = false;
  let whenSettled: NodeJS.Timeout | undefined;

  /** Says whether one could go. */
  function closeOne(shortage?: string): boolean {
    const settledBefore = performance.now() - settleMs;
    const mayAllGo = shortage !== undefined || open.size > 2 * max;
    const mayGo = [...open]
      .slice(0, -1)
      .filter(([, admittedAt]) => mayAllGo || admittedAt <= settledBefore)
      .map(([connection]) => connection);
    for (const [closed, isOne] of order) {
      const victim = mayGo.find(isOne);
      if (victim === undefined) continue;
      if (shortage === undefined) warnOfCrowd({ limit: max, closed });
      else warnOfShortage({ err: shortage, closed, check: SHORTAGE_CHECK });
      open.delete(victim);
      victim.socket.destroy();
      return true;
    }
    return false;
  }

  function trim(): void {
    isTrimDue = false;
    while (open.size > max && closeOne()) {}
    clearTimeout(whenSettled);
    if (open.size > max) whenSettled = setTimeout(trim, settleMs).unref();
  }

  return {
    get members() {
      return [...open.keys()];
    },
    admit(connection) {
      const shortage = open.size >= ALWAYS_ALLOWED_CONNECTIONS ? descriptorShortage() : undefined;
      open.set(connection, performance.now());
      connection.socket.once("close", () => open.delete(connection));
      if (shortage !== undefined) closeOne(shortage);
      if (isTrimDue || open.size <= max) return;
      isTrimDue = true;
      // The event loop reads from what it accepted one turn later.
      setImmediate(() => setImmediate(trim));
    },
    disperse() {
      for (const { socket } of open.keys()) socket.destroy();
    },
  };
}
