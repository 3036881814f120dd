import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { createServer, isIP, type Server } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../base/errors";
import { boundText, escapeUnprintable } from "../logging/escape";
import type { Logger } from "../logging/logger";
import { createCrowd } from "../unix/crowd";
import { type HttpAnswer, textAnswer } from "./http/answer";
import { type HttpConnection, type Respond, serveHttpConnection } from "./http/connection";
import type { HttpRequest } from "./http/request-head";
import { type ListenAddress, parseListenAddress } from "./listen-address";

/** Answers the requests for one path. What it throws is answered with 500. The signal says that the client has left. */
export type Route = (request: HttpRequest, signal: AbortSignal) => HttpAnswer | Promise<HttpAnswer>;

/** An HTTP server that comes up when it can. */
export interface DiagnosticsServer extends AsyncDisposable {
  /** Resolves with the bound port when it listens; never, if it is closed before. */
  readonly listening: Promise<number>;
  close(): Promise<void>;
}

/** Probes and scrapes are few. */
const MAX_CONNECTIONS = 64;
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
  const crowd = createCrowd<HttpConnection>({
    max: MAX_CONNECTIONS,
    goFirst: { "oldest idle": ({ isAnswering }) => !isAnswering },
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
  // A client that has said all may still wait for its answer.
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    crowd.admit(serveHttpConnection(socket, respond)),
  );
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
      crowd.disperse();
    });
    return closing;
  };
  return { listening, close, [Symbol.asyncDispose]: close };
}

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
