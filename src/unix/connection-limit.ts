import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { descriptorShortage } from "./descriptors";

/** Connections that a listener may always have, so that a flood on another listener does not close them. */
const ALWAYS_ALLOWED_CONNECTIONS = 4;

const SHORTAGE_CHECK =
  "who holds connections to this process (ss -xp, ss -tp), and its limit: ulimit -n, LimitNOFILE of the container runtime";

export interface ConnectionLimitOptions<Connection> {
  readonly max: number;
  /** Each connection has this time to send, unless there are more than twice `max`, or descriptors run short. @default 0 */
  readonly settleMs?: number;
  /** The order in which connections are closed, by their name in the log. The first non-empty class loses one. */
  readonly evictionOrder: Readonly<Record<string, (connection: Connection) => boolean>>;
  readonly messages: { readonly crowd: string; readonly shortage: string };
  readonly log: Logger;
}

/**
 * Bounds the connections of one listener to `max`, and to fewer when file descriptors run short. The newest stays, because it
 * may be kubelet's: the oldest in the first class of `evictionOrder` is closed, else the oldest of all. It is closed after every
 * accepted connection had a chance to send: of hundreds that connect at once kubelet's may be among the oldest. A client that
 * waits for our first bytes needs `settleMs` for that.
 */
export function createConnectionLimit<Connection extends { readonly socket: Socket }>(
  options: ConnectionLimitOptions<Connection>,
) {
  const { max, settleMs = 0, evictionOrder, messages, log } = options;
  const warnOfCrowd = createPacedWarning(log, messages.crowd);
  const warnOfShortage = createPacedWarning(log, messages.shortage);
  const order = Object.entries<(connection: Connection) => boolean>({ ...evictionOrder, oldest: () => true });
  /** When each was admitted, oldest first. */
  const open = new Map<Connection, number>();
  let whenSettled: NodeJS.Timeout | undefined;

  function closeOne(shortage?: string): boolean {
    const settledBefore = performance.now() - settleMs;
    const mayAllGo = shortage !== undefined || open.size > 2 * max;
    const others = [...open].slice(0, -1);
    for (const [closed, isOne] of order) {
      const ofClass = others.filter(([connection]) => isOne(connection));
      const [victim] = ofClass.find(([, admittedAt]) => mayAllGo || admittedAt <= settledBefore) ?? [];
      if (victim === undefined && ofClass.length > 0) return false; // Rather than close one of the next class.
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
    while (open.size > max && closeOne()) {}
    clearTimeout(whenSettled);
    if (open.size > max) whenSettled = setTimeout(trim, settleMs).unref();
  }

  return {
    get members(): readonly Connection[] {
      return [...open.keys()];
    },
    admit(connection: Connection): void {
      const shortage = open.size >= ALWAYS_ALLOWED_CONNECTIONS ? descriptorShortage() : undefined;
      open.set(connection, performance.now());
      connection.socket.once("close", () => open.delete(connection));
      if (shortage !== undefined) closeOne(shortage);
      // The event loop reads from what it accepted one turn later.
      if (open.size > max) setImmediate(() => setImmediate(trim));
    },
    closeAll(): void {
      for (const { socket } of open.keys()) socket.destroy();
    },
  };
}
