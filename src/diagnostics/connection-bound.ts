import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/paced-warning";
import {
  ALWAYS_ALLOWED_CONNECTIONS,
  descriptorShortage,
  SHORTAGE_CHECK,
} from "../sockets/descriptor-shortage";

/** Requests of one connection that may wait for their answer: a probe or a scrape has one, and waits for it. */
const MAX_WAITING_REQUESTS = 4;

/**
 * Holds an HTTP server to `max` connections, and to fewer where file descriptors run short. One more is let in all the
 * same, as it may be kubelet's probe: the oldest goes on which no request is being answered, else the oldest.
 *
 * A connection that sends request after request and waits for no answer is closed, before anything is done for the one
 * too many: Node would begin to answer all that it has read, thousands at a time.
 */
export function boundConnections(server: Server, max: number, log: Logger): void {
  const warnOfCrowd = createPacedWarning(log, "Too many HTTP connections, closed one");
  const warnOfShortage = createPacedWarning(log, "File descriptors run short, closed an HTTP connection");
  /** In the order of their coming; the number of requests that are being answered. */
  const open = new Map<Socket, number>();
  const count = (socket: Socket, change: 1 | -1) => {
    const running = open.get(socket);
    if (running !== undefined) open.set(socket, running + change);
  };

  server.on("connection", (socket: Socket) => {
    const shortage = open.size >= ALWAYS_ALLOWED_CONNECTIONS ? descriptorShortage() : undefined;
    if (open.size >= max || shortage !== undefined) {
      const all = [...open];
      const [idle] = all.find(([, running]) => running === 0) ?? [];
      const victim = idle ?? all[0]?.[0];
      if (victim) open.delete(victim);
      victim?.destroy();
      const closed = idle ? "oldest idle" : "oldest";
      if (shortage === undefined) warnOfCrowd({ limit: max, closed });
      else warnOfShortage({ err: shortage, closed, check: SHORTAGE_CHECK });
    }
    open.set(socket, 0);
    socket.once("close", () => open.delete(socket));
  });
  server.prependListener("request", ({ socket }, response) => {
    count(socket, 1);
    if ((open.get(socket) ?? 0) > MAX_WAITING_REQUESTS) socket.destroy();
    response.once("close", () => count(socket, -1));
  });
}
