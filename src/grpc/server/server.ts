import type { Socket } from "node:net";
import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/paced-warning";
import { createCrowd } from "../../unix/crowd";
import { type ClientConnection, createClientConnection } from "./connection";
import { DEFAULT_GRPC_SERVER_LIMITS, type GrpcServerLimits } from "./limits";

import type { ServedMethod, UnaryHandler } from "./unary-handler";

/** Where services are added. */
export interface ServiceHost {
  /** Serves each method of `definition` by the handler of the same name; leaves out those that have none. */
  addService(
    definition: Readonly<Record<string, MethodOnTheWire>>,
    handlers: Readonly<Record<string, UnaryHandler>>,
  ): void;
}

/** The part of `Unary` that a server needs. */
type MethodOnTheWire = { readonly path: string } & Omit<ServedMethod, "handle">;

export interface GrpcServerOptions {
  /** Adds the services to serve; called once, before this function returns. */
  readonly addServices: (server: ServiceHost) => void;
  readonly log: Logger;
  /** For tests. @default DEFAULT_GRPC_SERVER_LIMITS */
  readonly limits?: Partial<GrpcServerLimits> | undefined;
}

/** What has become of the connections so far. */
export interface ConnectionTally {
  readonly accepted: number;
  readonly open: number;
  /**
   * Gone, whoever closed them, before a whole call came and without breaking a rule. One that sent nothing does not count:
   * it is no gRPC client, but a look at whether somebody listens, or a registrar that stands by.
   */
  readonly cutBeforeCall: number;
  /** Closed by us because the client broke HTTP/2 or a bound. */
  readonly rejected: number;
  /** Why the last one was rejected. */
  readonly lastRejection?: string;
}

export interface GrpcServer extends AsyncDisposable {
  /**
   * Serves a connection that a listener of the caller's has accepted. After `close()` it is destroyed. Its calls have
   * `listenerGone`.
   */
  accept(socket: Socket, listenerGone?: AbortSignal): void;
  readonly connections: ConnectionTally;
  /** Whether a connection is open on which a whole call ever came. One that only waits for our end is no caller's. */
  readonly hasCaller: boolean;
  /**
   * Accepts no more, closes idle connections at once, lets running calls have `graceMs` (2000 by default), then cuts
   * them off: their handlers see `peerGone`, their clients a broken connection. Resolves when the last connection is
   * gone; never rejects. Repeated calls join the first.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** A client of grpc-go does not call before it has read our settings; so long that takes on a busy machine. */
const SETTLE_MS = 250;

/**
 * Starts a gRPC server that listens nowhere itself: whoever owns a listening socket gives it the connections. It
 * understands kubelets of every age (see `parseCallHead`) and holds every client to `limits`.
 *
 * A connection is never closed for being idle or old, since kubelet's may be both. Only when one more than
 * `maxConnections` comes, or file descriptors run short, does another go: the oldest that never made a call, else the
 * oldest that is making none, else the oldest: kubelet's calls take milliseconds, and the newcomer may be kubelet. They
 * go when they had a quarter of a second to call, or there are twice as many: of hundreds in one moment kubelet may be
 * among the oldest.
 */
export function startGrpcServer(options: GrpcServerOptions): GrpcServer {
  const limits = { ...DEFAULT_GRPC_SERVER_LIMITS, ...options.limits };
  const log = options.log.named("server");
  const warnOfViolation = createPacedWarning(log, "Closed a connection that does not speak gRPC");

  const methods = new Map<string, ServedMethod>();
  options.addServices({
    addService: (definition, handlers) => {
      for (const [name, { path, requestDeserialize, responseSerialize }] of Object.entries(definition)) {
        const handle = handlers[name];
        if (handle) methods.set(path, { requestDeserialize, responseSerialize, handle });
      }
    },
  });

  const crowd = createCrowd<ClientConnection>({
    max: limits.maxConnections,
    settleMs: SETTLE_MS,
    goFirst: {
      "oldest silent": ({ calls }) => !calls.everCalled,
      "oldest idle": ({ calls }) => calls.running === 0,
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

  const unfinishedOfAll = () => crowd.members.reduce((sum, { calls }) => sum + calls.unfinishedBytes(), 0);

  function accept(socket: Socket, listenerGone?: AbortSignal): void {
    if (closing !== undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    tally.accepted += 1;
    const connection = createClientConnection(socket, { limits, methods, unfinishedOfAll, listenerGone });
    crowd.admit(connection);
    socket.once("close", () => takeLeave(connection));
  }

  function takeLeave({ socket, calls, violation }: ClientConnection): void {
    if (violation !== undefined) {
      tally.rejected += 1;
      lastRejection = violation;
      log.v(2).info("Closed a connection that does not speak gRPC", { reason: violation });
      warnOfViolation({ reason: violation });
    } else if (!calls.everCalled && socket.bytesRead > 0) {
      tally.cutBeforeCall += 1;
    }
  }

  async function shutDown(graceMs: number): Promise<void> {
    // Not `once`, which takes a client's breaking off for a failure.
    const gone = ({ socket }: ClientConnection) => new Promise((resolve) => socket.once("close", resolve));
    const lastGone = Promise.all(crowd.members.map(gone));
    for (const connection of crowd.members) connection.leave();
    const cut = setTimeout(crowd.disperse, graceMs);
    await lastGone;
    clearTimeout(cut);
  }

  function close({ graceMs = 2_000 } = {}): Promise<void> {
    closing ??= shutDown(graceMs);
    return closing;
  }

  return {
    accept,
    close,
    [Symbol.asyncDispose]: () => close(),
    get hasCaller() {
      return crowd.members.some(({ calls }) => calls.everCalled);
    },
    get connections() {
      return { ...tally, open: crowd.members.length, ...(lastRejection !== undefined && { lastRejection }) };
    },
  };
}
