import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/paced-warning";
import {
  ALWAYS_ALLOWED_CONNECTIONS,
  descriptorShortage,
  SHORTAGE_CHECK,
} from "../sockets/descriptor-shortage";

/**
 * Holds an HTTP server to `max` connections, and to fewer where file descriptors run short. One more is let in all the
 * same, as it may be kubelet's probe: the oldest goes on which no request is being answered, else the oldest.
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
  server.on("request", ({ socket }, response) => {
    count(socket, 1);
    response.once("close", () => count(socket, -1));
  });
}
