import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { type ConnectionInjector, Server, ServerCredentials, type ServerInterceptor } from "@grpc/grpc-js";
import { LONGEST_WAIT_MS, startTimer, stopTimer } from "../base/pause";
import { type Logger, silentLogger } from "../logging/logger";
import { createPacedWarning } from "../logging/repeats";
import { createConnectionLimit } from "../unix/connection-limit";
import { MAX_MESSAGE_BYTES } from "./guard/frames";
import { type GuardedClient, guardFromClient } from "./guard/guards";
import { guardInterceptors } from "./guard-interceptors";

/** What one gRPC socket lets its clients use, unless its owner says otherwise. Kubelet needs one connection and one call. */
export const DEFAULT_GRPC_SERVER_LIMITS = {
  maxConnections: 64,
  /** Bytes of all unfinished requests together, beside 64 kB of each connection: the largest message, and its padding. */
  maxUnfinishedBytes: MAX_MESSAGE_BYTES + 65_536,
  /** Frames of one connection that lead to no answered call; kubelet sends 5 with each call. Some more are earned each second. */
  maxFrames: 200,
};

export type GrpcServerLimits = Readonly<typeof DEFAULT_GRPC_SERVER_LIMITS>;

/** grpc-js' server as a sidecar needs it: kubelet makes one call at a time, and its refusal may be as long as gRPC allows. */
export const createSmallServer = (hardening?: Hardening): Server =>
  hardenServer(
    new Server({
      "grpc.enable_channelz": 0,
      "grpc.max_concurrent_streams": 4,
      "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    }),
    hardening,
  );

interface Hardening {
  /** Where calls go that failed before their handlers. @default nowhere */
  readonly log?: Logger;
  /** Sees each request, also of unknown methods. */
  readonly onRequest?: (headers: IncomingHttpHeaders) => void;
}

type StreamListener = (
  interceptors: unknown,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
) => void;

/**
 * grpc-js (1.14) throws for a call of an unknown method that was reset at once, which would end the process; never ends a call
 * whose metadata HTTP/2 refuses; writes a line to stderr for each header field that is not ASCII, and ends a call at once if its
 * timeout is more than 24 days. It has no hook there, so this replaces its undocumented listeners; package.json pins its version.
 */
export function hardenServer(server: Server, { log = silentLogger, onRequest }: Hardening = {}): Server {
  const internals = server as unknown as Record<string, StreamListener>;
  const intercepting = server as unknown as { interceptors: readonly ServerInterceptor[] };
  intercepting.interceptors = guardInterceptors(intercepting.interceptors, log);
  for (const name of ["_streamHandler", "_channelzHandler"]) {
    const listener = internals[name]?.bind(server);
    internals[name] = (interceptors, stream, headers) => {
      stream.on("error", () => {}); // `close` follows.
      if (stream.destroyed || stream.closed) return;
      onRequest?.(headers);
      const fail = (error: unknown, message: string) => {
        log.error(error, message, { method: headers[":path"] });
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      };
      for (const send of ["respond", "sendTrailers"] as const) {
        const sendHeaders = stream[send].bind(stream) as (...given: unknown[]) => void;
        stream[send] = (...given: unknown[]) => {
          try {
            sendHeaders(...given);
          } catch (error) {
            fail(error, "A call's metadata cannot be sent");
          }
        };
      }
      try {
        listener?.(interceptors, stream, Object.fromEntries(Object.entries(headers).filter(isUnderstood)));
      } catch (error) {
        fail(error, "A call failed before its handler");
      }
    };
  }
  return server;
}

/** The units of grpc-timeout (gRPC over HTTP2, Requests) in milliseconds. */
const TIMEOUT_UNITS_MS: Readonly<Record<string, number>> = {
  H: 3.6e6,
  M: 6e4,
  S: 1e3,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** What a grpc-timeout says, in milliseconds. */
export const timeoutMsOf = (text: string): number =>
  Number(text.slice(0, -1)) * (TIMEOUT_UNITS_MS[text.slice(-1)] ?? 0);

/** A timeout that is longer than a timer can be would end the call at once. */
function isUnderstood([name, value]: [string, unknown]): boolean {
  const text = String(value);
  return /^[ -~]*$/.test(text) && !(name === "grpc-timeout" && timeoutMsOf(text) > LONGEST_WAIT_MS);
}

interface GrpcServerOptions<Origin> {
  /** The server for a connection whose client has sent its first bytes; `origin` is what it was accepted with. */
  readonly newServer: (origin: Origin | undefined, client: GuardedClient) => Server;
  readonly log: Logger;
  readonly limits?: Partial<GrpcServerLimits> | undefined;
}

export interface ConnectionTally {
  readonly accepted: number;
  readonly open: number;
  /** Ended before a whole call arrived, without breaking a rule, except those that sent nothing: a standby registrar. */
  readonly cutBeforeCall: number;
  /** Closed because the client broke HTTP/2 or a bound. */
  readonly rejected: number;
  readonly lastRejection?: string | undefined;
}

/** A client of grpc-go calls after it has read our settings, which takes so long on a busy machine. */
const SETTLE_MS = 250;

interface Connection extends GuardedClient {
  /** Absent before the client has sent HTTP/2's preface. */
  injector?: ConnectionInjector;
}

/**
 * Serves connections that the caller's listener accepts with grpc-js' server, behind `guardFromClient`. grpc-js' own listener
 * would remove whatever has the path, and leave the mode to chance.
 *
 * A connection ends when its client breaks a rule or a bound of the guard, 2 s after the client has hung up, and by `close` and
 * `destroy`. It never ends because it is idle or old: kubelet's may be both. When there are more than `maxConnections`,
 * or file descriptors run short, it closes the oldest that never made a call, else the oldest without a running call, else the
 * oldest: kubelet's calls take milliseconds, and the newest may be kubelet's. Each has 250 ms to call before that, unless
 * there are twice as many, or descriptors run short.
 */
export function createGrpcServer<Origin>({ newServer, log, ...options }: GrpcServerOptions<Origin>) {
  const bounds = { ...DEFAULT_GRPC_SERVER_LIMITS, ...options.limits, unfinishedBytes: 0 };
  const warnOfViolation = createPacedWarning(log, "Closed a connection that broke HTTP/2 or a limit");
  const credentials = ServerCredentials.createInsecure();
  const crowd = createConnectionLimit<Connection>({
    max: bounds.maxConnections,
    settleMs: SETTLE_MS,
    evictionOrder: {
      "oldest silent": ({ calls }) => !calls.everCalled(),
      "oldest idle": ({ calls }) => calls.running() === 0,
    },
    messages: {
      crowd: "Too many connections, closed one",
      shortage: "File descriptors run short, closed a connection",
    },
    log,
  });
  const tally = { accepted: 0, cutBeforeCall: 0, rejected: 0 };
  let lastRejection: string | undefined;
  let closing: Promise<void> | undefined;
  let isCut = false;

  function cut(): void {
    isCut = true;
    crowd.closeAll();
  }

  /** Serves a connection that the caller accepted. Destroys it after `close()`. */
  function accept(socket: Socket, origin?: Origin): void {
    if (closing !== undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    tally.accepted += 1;
    const connection: Connection = guardFromClient(socket, bounds, (stream) => {
      connection.injector = newServer(origin, connection).createConnectionInjector(credentials);
      connection.injector.injectConnection(stream);
    });
    crowd.admit(connection);
    socket.once("close", () => takeLeave(connection));
  }

  function takeLeave({ socket, calls, violation, injector }: Connection): void {
    injector?.destroy();
    const reason = violation();
    if (reason !== undefined) {
      tally.rejected += 1;
      lastRejection = reason;
      log.v(2).info("Closed a connection that broke HTTP/2 or a limit", { reason });
      warnOfViolation({ reason });
    } else if (!calls.everCalled() && socket.bytesRead > 0) {
      tally.cutBeforeCall += 1;
    }
  }

  async function shutDown(graceMs: number): Promise<void> {
    const timer = startTimer(cut, graceMs);
    const ended = crowd.members.map(({ socket, injector }) => {
      // grpc-js' `destroy` lets running calls end.
      if (injector) injector.destroy();
      else socket.destroy();
      // Not `once`, which rejects when the client resets the connection.
      return new Promise((resolve) => socket.once("close", resolve));
    });
    await Promise.all(ended);
    stopTimer(timer);
  }

  /** Closes idle connections at once, the others after `graceMs` at most; never rejects. Repeated calls join the first. */
  function close({ graceMs = 2_000 } = {}): Promise<void> {
    closing ??= shutDown(graceMs);
    return closing;
  }

  return {
    accept,
    close,
    /** Closes every connection at once, also while `close` still waits. */
    destroy: (): void => {
      close().catch(() => {}); // It never rejects.
      cut();
    },
    [Symbol.asyncDispose]: () => close(),
    /** Whether calls that ran were cut off: `destroy` was called, or the grace of `close` is over. */
    get isCut() {
      return isCut;
    },
    /** How many connections are open on which nothing ever arrived. */
    get silent() {
      return crowd.members.filter(({ socket }) => socket.bytesRead === 0).length;
    },
    get connections(): ConnectionTally {
      return { ...tally, open: crowd.members.length, lastRejection };
    },
  };
}
