import type { Socket } from "node:net";
import type { Server } from "@grpc/grpc-js";
import { RegistrarError } from "../../base/errors";
import { pause } from "../../base/pause";
import type { GuardedClient } from "../../grpc/guard/guards";
import { createSmallServer, startGrpcServer } from "../../grpc/server";
import { silentLogger } from "../../logging/logger";
import { refuseAborted } from "../../options/start-options";
import { createSocketFile } from "../../unix/socket-file";
import { createEventLog, type EventStream } from "../event-stream";
import { createFaultScript } from "../simulator-options";
import {
  CSI_DRIVER_FAULTS,
  type CsiDriverAnswers,
  type CsiDriverFault,
  type CsiDriverOptions,
  changeAnswers,
  type ResolvedCsiDriverAnswers,
  type ResolvedCsiDriverOptions,
  resolveCsiDriverOptions,
} from "./options";
import { CSI_DRIVER_EVENTS, type CsiDriverEvent, createCsiDriverServices } from "./services";

/** A CSI driver as far as registration sees one. */
export interface SimulatedCsiDriver extends AsyncDisposable {
  /** What it was started with, every default filled in. */
  readonly options: ResolvedCsiDriverOptions;
  /** What GetPluginInfo says. */
  readonly name: string;
  readonly csiAddress: string;
  /** The same, as what a registration calls it. */
  readonly endpoint: string;
  readonly events: EventStream<CsiDriverEvent>;
  /** Replaces the active faults. Throws INVALID_OPTION, and ABORTED once it is closed. */
  setFaults(faults: readonly CsiDriverFault[]): void;
  /** Changes these answers from now on; the others stay. `options` does not change. Throws as `setFaults`. */
  setAnswers(answers: CsiDriverAnswers): void;
  /** Removes its socket, lets running calls finish for up to 2 s. Always the same promise. */
  close(): Promise<void>;
  /** Stops as in a crash: cuts connections, and leaves the socket file behind without a listener. */
  kill(): Promise<void>;
}

/**
 * Starts a CSI driver that serves the Identity service, NodeGetInfo, NodeGetCapabilities and the health calls: it provisions, attaches and mounts
 * nothing, and answers calls beyond `CsiMethod` with UNIMPLEMENTED. Its answers come from the options. Resolves when it
 * listens. `close()`, `kill()` and `signal` end it.
 *
 * Rejects with INVALID_OPTION for a path that cannot be a socket, with SOCKET_UNUSABLE if another file has the path or
 * the directory is not writable, with ABORTED if the signal was aborted before it listened.
 */
export async function startCsiDriver(options: CsiDriverOptions): Promise<SimulatedCsiDriver> {
  const { signal, logger, ...driver } = resolveCsiDriverOptions(options);
  refuseAborted("the simulated CSI driver", signal);
  await pause(driver.listenAfterMs, signal ?? new AbortController().signal);
  refuseAborted("the simulated CSI driver", signal);

  const log = createEventLog<CsiDriverEvent>(
    `the simulated CSI driver ${driver.name}`,
    CSI_DRIVER_EVENTS,
    driver,
  );
  const faults = createFaultScript(driver.faults, (fault) => log.append({ kind: "fault-applied", fault }));
  let answers: ResolvedCsiDriverAnswers = driver;
  const services = { name: driver.name, answers: () => answers, faults, emit: log.append };
  const addServices = createCsiDriverServices(services);
  const server = startGrpcServer({
    log: logger,
    newServer: (_publication, client) => {
      const server = createObservedServer(client, (request) => log.append({ kind: "called", ...request }));
      addServices(server);
      return server;
    },
  });
  const socket = await listenUntilCrash(driver.csiAddress, (connection) => server.accept(connection)).catch(
    async (error: unknown) => {
      await server.close();
      throw error;
    },
  );
  log.append({ kind: "listening", csiAddress: driver.csiAddress });

  let stopping: Promise<void> | undefined;
  const stop = (because: "close" | "kill") => {
    stopping ??= (async () => {
      signal?.removeEventListener("abort", close);
      await (because === "kill" ? socket.crash() : socket.withdraw());
      await server.close();
      log.append({ kind: "stopped", because });
      log.end();
    })();
    return stopping;
  };
  const close = () => stop("close");
  const refuseStopped = () => {
    if (stopping !== undefined)
      throw new RegistrarError("ABORTED", `the simulated CSI driver ${driver.name} is closed`);
  };
  if (signal?.aborted) {
    await close();
    refuseAborted("the simulated CSI driver", signal);
  }
  signal?.addEventListener("abort", close, { once: true });

  return {
    options: driver,
    name: driver.name,
    csiAddress: driver.csiAddress,
    endpoint: driver.csiAddress,
    events: log.stream,
    setFaults: (given) => {
      refuseStopped();
      faults.set(CSI_DRIVER_FAULTS.read(given, "setFaults: faults"));
    },
    setAnswers: (given) => {
      refuseStopped();
      answers = changeAnswers(answers, given);
    },
    close,
    kill: () => stop("kill"),
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Listens at `path`, in place of a socket that is there, to end cleanly or as in a crash. Rejects with SOCKET_UNUSABLE, and
 * then has changed nothing.
 */
export async function listenUntilCrash(path: string, onConnection: (connection: Socket) => void) {
  const connections = new Set<Socket>();
  const socket = createSocketFile((connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  }, silentLogger);
  await socket.publish(path, { overLiving: true, atOnce: true });
  return {
    withdraw: socket.withdraw,
    /** Closes every connection and the listener, and leaves the file behind. */
    crash: async (): Promise<void> => {
      await socket.abandon();
      for (const connection of connections) connection.destroy();
    },
  };
}

/**
 * Creates a server for one client that reports each request: its method, without its service, and its `:authority` as the
 * client sent it.
 */
export function createObservedServer(
  client: GuardedClient,
  onRequest: (request: { readonly method: string; readonly authority: string }) => void,
): Server {
  return createSmallServer(({ ":path": path = "", ":authority": authority = "" }) =>
    onRequest({
      method: path.slice(path.lastIndexOf("/") + 1),
      authority: client.replacedAuthority() ?? authority,
    }),
  );
}
