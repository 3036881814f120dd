import { once } from "node:events";
import type { Socket } from "node:net";
import { Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import type { Logger } from "../logging/logger";
import { createPacedWarning } from "../logging/paced-warning";
import {
  ALWAYS_ALLOWED_CONNECTIONS,
  descriptorShortage,
  SHORTAGE_CHECK,
} from "../sockets/descriptor-shortage";
import { type GrpcAcceptorLimits, resolveGrpcAcceptorLimits } from "./acceptor-limits";
import { type ClientConnection, createClientConnection } from "./client-connection";
import { UNSERVED_METHOD } from "./request-fields";

/** Megabytes that one HTTP/2 session may hold for a client that sends and does not read; Node takes no less. */
const MAX_SESSION_MEMORY_MB = 1;

/** Where services are added. */
export type ServiceHost = Pick<Server, "addService">;

export interface GrpcAcceptorOptions {
  /** Adds the services to serve; called once, before this function returns. */
  readonly addServices: (server: ServiceHost) => void;
  readonly log: Logger;
  readonly limits?: Partial<GrpcAcceptorLimits> | undefined;
}

/** What has become of the connections so far. */
export interface ConnectionTally {
  readonly accepted: number;
  readonly open: number;
  /** Gone, whoever closed them, before any call came and without breaking a rule. */
  readonly cutBeforeCall: number;
  /** Closed by us because the client broke HTTP/2 or a bound. */
  readonly rejected: number;
  /** Why the last one was rejected. */
  readonly lastRejection?: string;
}

export interface GrpcAcceptor extends AsyncDisposable {
  /** Serves a connection that a listener of the caller's has accepted. After `close()` it is destroyed. */
  accept(socket: Socket): void;
  readonly connections: ConnectionTally;
  /** Whether a connection is open on which a call was ever made. One that only waits for our end is no caller's. */
  readonly hasCaller: boolean;
  /**
   * Accepts no more, closes idle connections at once, lets running calls have `graceMs` (2000 by default), then cuts
   * them off: their handlers see `peerGone`, their clients a broken connection. Resolves when the last connection is
   * gone; never rejects. Repeated calls join the first.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Starts a gRPC server that listens nowhere itself: whoever owns a listening socket gives it the connections. It
 * understands kubelets of every age (see `createAuthorityRewriter`) and holds every client to `limits`.
 *
 * A connection is never closed for being idle or old, since kubelet's may be both. Only when one more than
 * `maxConnections` comes, or file descriptors run short, does another go: the oldest that never made a call, else the
 * oldest that is making none, else the oldest: kubelet's calls take milliseconds, and the newcomer may be kubelet.
 */
export function startGrpcAcceptor(options: GrpcAcceptorOptions): GrpcAcceptor {
  const limits = resolveGrpcAcceptorLimits(options.limits);
  const log = options.log.named("acceptor");
  const warnOfViolation = createPacedWarning(log, "Closed a connection that does not speak gRPC");
  const warnOfCrowd = createPacedWarning(log, "Too many connections, closed one");
  const warnOfShortage = createPacedWarning(log, "File descriptors run short, closed a connection");

  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_concurrent_streams": limits.maxConcurrentStreams,
    "grpc.max_receive_message_length": limits.maxMessageBytes,
    "grpc-node.max_session_memory": MAX_SESSION_MEMORY_MB,
  });
  const paths = new Set<string>();
  options.addServices({
    addService: (definition, implementation) => {
      for (const { path } of Object.values(definition)) paths.add(path);
      server.addService(definition, implementation);
    },
  });
  addUnservedMethod(server);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());

  /** In the order of their coming. */
  const open = new Set<ClientConnection>();
  const tally = { accepted: 0, cutBeforeCall: 0, rejected: 0 };
  let lastRejection: string | undefined;
  let closing: Promise<void> | undefined;

  function makeRoom(shortage: string | undefined): void {
    const all = [...open];
    const silent = all.find(({ calls }) => !calls.everCalled);
    const idle = all.find(({ calls }) => calls.running === 0);
    const victim = silent ?? idle ?? all[0];
    if (victim === undefined) return;
    const closed = silent ? "oldest silent" : idle ? "oldest idle" : "oldest";
    if (shortage === undefined) warnOfCrowd({ limit: limits.maxConnections, closed });
    else warnOfShortage({ err: shortage, closed, check: SHORTAGE_CHECK });
    open.delete(victim);
    victim.stream.destroy();
  }

  function accept(socket: Socket): void {
    if (closing !== undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    tally.accepted += 1;
    const shortage = open.size >= ALWAYS_ALLOWED_CONNECTIONS ? descriptorShortage() : undefined;
    if (open.size >= limits.maxConnections || shortage !== undefined) makeRoom(shortage);
    const connection = createClientConnection(socket, { ...limits, isServed: (path) => paths.has(path) });
    open.add(connection);
    connection.stream.once("close", () => {
      open.delete(connection);
      takeLeave(connection);
    });
    injector.injectConnection(connection.stream);
  }

  function takeLeave({ calls, violation }: ClientConnection): void {
    if (violation !== undefined) {
      tally.rejected += 1;
      lastRejection = violation;
      log.v(2).info("Closed a connection that does not speak gRPC", { reason: violation });
      warnOfViolation({ reason: violation });
    } else if (!calls.everCalled) {
      tally.cutBeforeCall += 1;
    }
  }

  async function shutDown(graceMs: number): Promise<void> {
    const lastGone = Promise.all(Array.from(open, ({ stream }) => once(stream, "close")));
    injector.destroy();
    const cut = setTimeout(() => {
      for (const { stream } of open) stream.destroy();
    }, graceMs);
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
      return [...open].some(({ calls }) => calls.everCalled);
    },
    get connections() {
      return { ...tally, open: open.size, ...(lastRejection !== undefined && { lastRejection }) };
    },
  };
}

/** A stream, so that it is answered before any message has come: a client of another may wait for that. */
function addUnservedMethod(server: Server): void {
  const refuseCall = (call: ServerDuplexStream<Buffer, Buffer>) =>
    call.emit("error", { code: status.UNIMPLEMENTED, details: "there is no such method on this socket" });
  const asIs = (bytes: Buffer) => bytes;
  server.register(UNSERVED_METHOD, refuseCall, asIs, asIs, "bidi");
}
