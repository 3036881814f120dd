import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../errors";
import type { Logger } from "../logging/logger";
import { boundConnections } from "./connection-bound";
import { type ListenAddress, parseListenAddress } from "./listen-address";

/** Answers the requests for one path. What it throws is answered with 500. */
export type Route = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** An HTTP server that comes up when it can. */
export interface DiagnosticsServer extends AsyncDisposable {
  /** Resolves with the bound port when it listens; never, if it is closed before. */
  readonly listening: Promise<number>;
  close(): Promise<void>;
}

/** Probes and scrapes are few. */
const MAX_CONNECTIONS = 64;
/** On one connection; a scraper that keeps its connection makes another one then. Bounds what comes in one breath. */
const MAX_REQUESTS = 100;
/** Between attempts to bind an address that is in use. */
const BIND_RETRY_MS = 5_000;

/**
 * Serves `routes` on `endpoint`, a listen address in Go's form. An address that cannot be bound is warned of and tried
 * again every 5 s: diagnostics never stand in the way of a registration. Throws INVALID_OPTION at once for a text
 * that is no address.
 */
export function startDiagnosticsServer(
  endpoint: string,
  routes: ReadonlyMap<string, Route>,
  { log: parentLog }: { readonly log: Logger },
): DiagnosticsServer {
  const log = parentLog.named("server");
  const address = parseListenAddress(endpoint);
  const stop = new AbortController();
  const server = createServer(async (request, response) => {
    if (request.socket.destroyed) return;
    const path = request.url?.split("?", 1)[0] ?? "/";
    try {
      await (routes.get(path) ?? notFound)(request, response);
    } catch (error) {
      log.error(error, "HTTP request failed", { path });
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
      response.end(`${messageOf(error)}\n`);
    }
  });
  server.maxRequestsPerSocket = MAX_REQUESTS;
  boundConnections(server, MAX_CONNECTIONS, log);
  server.on("clientError", (_error, socket) => socket.destroy());
  server.on("error", () => {}); // While binding, told by `listen`; later, a connection that could not be accepted.

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
        });
        await delay(BIND_RETRY_MS, undefined, { signal: stop.signal }).catch(() => {});
      }
    }
    return new Promise<number>(() => {});
  })();

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise((resolve) => {
      stop.abort();
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
  return { listening, close, [Symbol.asyncDispose]: close };
}

const notFound: Route = (_request, response) => {
  response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
};

async function listen(server: Server, { host, port }: ListenAddress, signal: AbortSignal): Promise<number> {
  // Go listens on a name's IPv4 address first; Node would take the resolver's order.
  const address =
    host === undefined || isIP(host) ? host : (await lookup(host, { order: "ipv4first" })).address;
  signal.throwIfAborted();
  server.listen({ port, ...(address === undefined ? {} : { host: address }) });
  await once(server, "listening");
  const bound = server.address();
  return typeof bound === "object" && bound ? bound.port : port;
}
