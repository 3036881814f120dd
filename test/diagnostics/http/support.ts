import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { textAnswer } from "../../../src/diagnostics/http/connection";
import { type Route, startDiagnosticsServer } from "../../../src/diagnostics/server";
import { recordLog } from "../../support/recorded-log";

const ANY_PORT = { endpoint: "127.0.0.1:0", host: "127.0.0.1", port: 0 };

export const hello: Route = () => textAnswer(200, "hello");

export const get = (path: string, ...fields: readonly string[]) =>
  `GET ${path} HTTP/1.1\r\n${["host: x", ...fields].join("\r\n")}\r\n\r\n`;

/** A server on a free port of this machine, and clients for it. */
export async function serve(routes: Readonly<Record<string, Route>>, log = recordLog()) {
  const server = startDiagnosticsServer(ANY_PORT, new Map(Object.entries(routes)), { log: log.logger });
  const port = await server.listening;
  const clients: Socket[] = [];
  return {
    port,
    log,
    /** Connects and sends; what comes back is read only when somebody asks for it. */
    dial: async (sent = ""): Promise<Socket> => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => {});
      clients.push(socket);
      await once(socket, "connect");
      socket.write(sent, "latin1");
      return socket;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of clients) socket.destroy();
      await server.close();
    },
  };
}
