import { lookup } from "node:dns/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../errors";
import type { Logger } from "../logging/logger";
import { type ListenAddress, parseListenAddress } from "./listen-address";

/** A path of the HTTP server and who answers it. */
export type Route = RequestListener;

/** An HTTP server that comes up when it can. */
export interface DiagnosticsServer extends AsyncDisposable {
  /** Resolves with the bound port when it listens; never, if it is closed before. */
  readonly listening: Promise<number>;
  close(): Promise<void>;
}

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
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const route = routes.get(path);
    if (route) return route(request, response);
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
  });
  server.on("clientError", (_error, socket) => socket.destroy());

  const listening = (async () => {
    while (!stop.signal.aborted) {
      try {
        const port = await listen(server, address);
        log.info("HTTP server started", { endpoint, port });
        return port;
      } catch (error) {
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

async function listen(server: Server, { host, port }: ListenAddress): Promise<number> {
  // Go listens on a name's IPv4 address first; Node would take the resolver's order.
  const address =
    host === undefined || isIP(host) ? host : (await lookup(host, { order: "ipv4first" })).address;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(address === undefined ? {} : { host: address }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address();
  return typeof bound === "object" && bound ? bound.port : port;
}
