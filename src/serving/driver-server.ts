import type { Socket } from "node:net";
import { Server, ServerCredentials, type ServerOptions } from "@grpc/grpc-js";
import { guardConnection } from "../grpc/client/guarded-connection";

/**
 * Makes grpc-js' own server, to which the driver adds its services, for connections that a listener of ours accepted.
 * It binds nothing: grpc-js would remove whatever has the path, and leave the mode to chance.
 */
export function createDriverServer(options: ServerOptions) {
  const server = new Server(options);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const open = new Map<Socket, Promise<unknown>>();
  let isClosed = false;
  return {
    server,
    /** Serves a connection; after `close()` destroys it. */
    accept(socket: Socket): void {
      if (isClosed) {
        socket.destroy();
        return;
      }
      const closed = new Promise((resolve) => socket.once("close", resolve));
      open.set(socket, closed);
      void closed.then(() => open.delete(socket));
      injector.injectConnection(guardConnection(socket, "client"));
    },
    /** Ends each connection when its last call ends, or after `graceMs`. Resolves when none is left; never rejects. */
    async close(graceMs: number): Promise<void> {
      isClosed = true;
      const cut = setTimeout(() => {
        for (const socket of open.keys()) socket.destroy();
      }, graceMs);
      // Never calls back if a client violated HTTP/2: its session does not end with its connection.
      server.tryShutdown(() => {});
      await Promise.all(open.values());
      clearTimeout(cut);
      server.forceShutdown();
    },
  };
}
