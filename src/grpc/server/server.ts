import type { Socket } from "node:net";
import type { Logger } from "../../logging/logger";
import { createPacedWarning } from "../../logging/paced-warning";
import { createCrowd } from "../../unix/crowd";
import { type ClientConnection, createClientConnection } from "./connection";
import { DEFAULT_GRPC_SERVER_LIMITS, type GrpcServerLimits } from "./limits";
import type { ServedMethod, UnaryHandler } from "./unary-handler";

export interface ServiceHost {
  /** Serves each method of `definition` by the handler of the same name; leaves out those that have none. */
  addService(
    definition: Readonly<Record<string, MethodOnTheWire>>,
    handlers: Readonly<Record<string, UnaryHandler>>,
  ): void;
}

type MethodOnTheWire = { readonly path: string } & Omit<ServedMethod, "handle">;

interface GrpcServerOptions {
  /** Adds the services to serve; called once, before this function returns. */
  readonly addServices: (server: ServiceHost) => void;
  readonly log: Logger;
  /** For tests. @default DEFAULT_GRPC_SERVER_LIMITS */
  readonly limits?: Partial<GrpcServerLimits> | undefined;
}

/** Counts of connections since the start. */
export interface ConnectionTally {
  readonly accepted: number;
  readonly open: number;
  /**
   * Ended before a whole call arrived, without breaking a rule. Those that sent nothing do not count: some program looked
   * whether the socket accepts a connection, or another registrar stands by.
   */
  readonly cutBeforeCall: number;
  /** Closed because the client broke HTTP/2 or a bound. */
  readonly rejected: number;
  readonly lastRejection?: string;
}

/** A client of grpc-go calls after it has read our settings, which takes so long on a busy machine. */
const SETTLE_MS = 250;

/**
 * Starts a gRPC server for connections that the caller's listener accepts. It understands kubelets of every version (see
 * `parseCallHead`) and holds every client to `limits`.
 *
 * It never closes a connection because it is idle or old: kubelet's may be both. When there are more than `maxConnections`,
 * or file descriptors run short, it closes the oldest that never made a call, else the oldest without a running call, else the
 * oldest: kubelet's calls take milliseconds, and the newest may be kubelet's. Each has 250 ms to call before that, unless
 * there are twice as many.
 */
export function startGrpcServer(options: GrpcServerOptions) {
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

  const unfinishedOfAll = () => crowd.members.reduce((sum, { calls }) => sum + calls.unfinishedBytes(), 0);
  const serving = { limits, methods, unfinishedOfAll };

  /** Serves a connection that the caller accepted; its calls have `listenerGone`. Destroys it after `close()`. */
  function accept(socket: Socket, listenerGone?: AbortSignal): void {
    if (closing !== undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    tally.accepted += 1;
    const connection = createClientConnection(socket, serving, listenerGone);
    crowd.admit(connection);
    socket.once("close", () => takeLeave(connection));
  }

  function takeLeave({ socket, calls, violation }: ClientConnection): void {
    if (violation !== undefined) {
      tally.rejected += 1;
      lastRejection = violation;
      log.v(2).info("Closed a connection that does not speak gRPC", { reason: violation });
      warnOfViolation({ reason: violation });
    } else if (!calls.everCalled() && socket.bytesRead > 0) {
      tally.cutBeforeCall += 1;
    }
  }

  async function shutDown(graceMs: number): Promise<void> {
    // Not `once`, which rejects when the client resets the connection.
    const gone = ({ socket }: ClientConnection) => new Promise((resolve) => socket.once("close", resolve));
    const lastGone = Promise.all(crowd.members.map(gone));
    for (const connection of crowd.members) connection.leave();
    const cut = setTimeout(crowd.disperse, graceMs);
    await lastGone;
    clearTimeout(cut);
  }

  /**
   * Accepts no more, closes idle connections at once and the others after `graceMs` (default 2000): handlers that still run
   * see `peerGone`. Resolves when the last connection is closed; never rejects. Repeated calls join the first.
   */
  function close({ graceMs = 2_000 } = {}): Promise<void> {
    closing ??= shutDown(graceMs);
    return closing;
  }

  return {
    accept,
    close,
    [Symbol.asyncDispose]: () => close(),
    /** Whether a connection is open on which a whole call ever arrived; standby registrars connect without a call. */
    get hasCaller() {
      return crowd.members.some(({ calls }) => calls.everCalled());
    },
    get connections(): ConnectionTally {
      return { ...tally, open: crowd.members.length, ...(lastRejection !== undefined && { lastRejection }) };
    },
  };
}
