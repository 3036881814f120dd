import { once } from "node:events";
import { type AddressInfo, createServer, isIP, type Server } from "node:net";
import { errnoOf, messageOf } from "../base/errors";
import { pause } from "../base/pause";
import { boundText, escapeUnprintable } from "../logging/escape";
import type { Logger } from "../logging/logger";
import { createConnectionLimit } from "../unix/connection-limit";
import type { ListenAddress } from "./endpoint";
import {
  type HttpAnswer,
  type HttpConnection,
  type Respond,
  serveHttpConnection,
  textAnswer,
} from "./http/connection";
import type { HttpRequest } from "./http/request-head";

/** Answers the requests for one path; an error becomes status 500. The signal is aborted if the client disconnects. */
export type Route = (request: HttpRequest, signal: AbortSignal) => HttpAnswer | Promise<HttpAnswer>;

const MAX_CONNECTIONS = 64;
const BIND_RETRY_MS = 5_000;
const PORT_TAKEN =
  "another process has this port and gets the probes and scrapes: find it with ss -ltnp, or choose another port";

/**
 * Serves `routes` on `address`. If that cannot be bound, it logs a warning and
 * retries every 5 s: diagnostics must not prevent a registration.
 */
export function startDiagnosticsServer(
  address: ListenAddress,
  routes: ReadonlyMap<string, Route>,
  { log }: { readonly log: Logger },
) {
  const { endpoint } = address;
  const stop = new AbortController();
  const crowd = createConnectionLimit<HttpConnection>({
    max: MAX_CONNECTIONS,
    evictionOrder: { "oldest idle": ({ isAnswering }) => !isAnswering },
    messages: {
      crowd: "Too many HTTP connections, closed one",
      shortage: "File descriptors run short, closed an HTTP connection",
    },
    log,
  });
  const respond: Respond = async (request, signal) => {
    try {
      const route = routes.get(request.path);
      return route ? await route(request, signal) : textAnswer(404, "404 page not found\n");
    } catch (error) {
      if (!signal.aborted) log.error(error, "HTTP request failed", { path: request.path });
      return textAnswer(500, `${escapeUnprintable(boundText(messageOf(error)))}\n`);
    }
  };
  // A client may close its side and still wait for the answer.
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    crowd.admit(serveHttpConnection(socket, respond)),
  );
  server.on("error", () => {}); // `listen` reports errors of the bind; later ones are of a connection.

  const listening = (async () => {
    while (!stop.signal.aborted) {
      try {
        const port = await listen(server, address, stop.signal);
        log.info("HTTP server started", { endpoint, port });
        return port;
      } catch (error) {
        if (stop.signal.aborted) break;
        log.warn("HTTP server cannot listen, trying again", {
          endpoint,
          err: messageOf(error),
          retryIn: `${BIND_RETRY_MS / 1000}s`,
          ...(errnoOf(error) === "EADDRINUSE" && { check: PORT_TAKEN }),
        });
        await pause(BIND_RETRY_MS, stop.signal);
      }
    }
    return new Promise<number>(() => {});
  })();

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise((resolve) => {
      stop.abort();
      server.close(() => resolve());
      crowd.closeAll();
    });
    return closing;
  };
  return {
    /** Resolves with the bound port; never, if the server is closed before it listens. */
    listening,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(server: Server, { host, port }: ListenAddress, signal: AbortSignal): Promise<number> {
  const address = host === undefined || isIP(host) ? host : await addressOf(host);
  signal.throwIfAborted();
  server.listen({ port, host: address });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Go listens on a name's IPv4 address first; Node would take the resolver's order. */
async function addressOf(host: string): Promise<string> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { order: "ipv4first" })).address;
}
