import { once } from "node:events";
import type { Socket } from "node:net";
import { type Server, status } from "@grpc/grpc-js";
import { messageOf, RegistrarError } from "../../base/errors";
import type { EveryKind } from "../../base/event-source";
import { monotonicMs, pause } from "../../base/pause";
import type { GuardedClient } from "../../grpc/guard/guards";
import { unaryHandler } from "../../grpc/handlers";
import { protos } from "../../grpc/protos";
import { createGrpcServer, createSmallServer, timeoutMsOf } from "../../grpc/server";
import { silentLogger } from "../../logging/logger";
import { readOptions } from "../../options/read-options";
import { refuseAborted } from "../../options/start-options";
import { createSocketFile } from "../../unix/socket-file";
import { createEventLog, type EventStream, type WithoutTime } from "../event-stream";
import { createFaultScript, type FaultScript } from "../simulator-options";
import {
  answersOr,
  CSI_DRIVER_FAULTS,
  CSI_METHODS,
  type CsiDriverAnswers,
  type CsiDriverFault,
  type CsiDriverOptions,
  type CsiMethod,
  type ResolvedCsiDriverAnswers,
  resolveCsiDriverOptions,
} from "./options";

/** One step of a simulated CSI driver. */
export type CsiDriverEvent = { readonly atMs: number } & (
  | {
      /** Its socket is in place. */
      readonly kind: "listening";
      readonly csiAddress: string;
    }
  /** A call arrived. */
  | ({ readonly kind: "called" } & ObservedRequest)
  /** A call was answered, or failed by a fault. */
  | {
      readonly kind: "answered";
      readonly method: CsiMethod;
      readonly durationMs: number;
      readonly result: CsiAnswerResult;
    }
  /** A fault of the options or `setFaults` took effect. */
  | { readonly kind: "fault-applied"; readonly fault: CsiDriverFault }
  /** The last event. */
  | { readonly kind: "stopped"; readonly because: "close" | "kill" }
);

const EVENT_KINDS: EveryKind<CsiDriverEvent> = {
  listening: true,
  called: true,
  answered: true,
  "fault-applied": true,
  stopped: true,
};

/** A request that arrived: its method's name and its `:authority`, both as its client sent them. */
export interface ObservedRequest {
  /** The name of the method, such as `NodeGetInfo`. */
  readonly method: string;
  /** The `:authority` that its client sent. */
  readonly authority: string;
  /** How long its client waits, in milliseconds; absent: without end. */
  readonly timeoutMs?: number;
}

/** How a call was answered. */
export type CsiAnswerResult = { readonly kind: "ok" } | { readonly kind: "error"; readonly error: string };

/** A CSI driver as far as registration sees one. */
export interface SimulatedCsiDriver extends AsyncDisposable {
  /** What GetPluginInfo says. */
  readonly name: string;
  /** Where it listens. */
  readonly csiAddress: string;
  /** The same, as what a registration calls it. */
  readonly endpoint: string;
  /** Every call and fault, in order. */
  readonly events: EventStream<CsiDriverEvent>;
  /** Replaces the active faults. Throws INVALID_OPTION, and ABORTED once it is closed. */
  setFaults(faults: readonly CsiDriverFault[]): void;
  /** Changes these answers from now on; the others stay. Throws as `setFaults`. */
  setAnswers(answers: CsiDriverAnswers): void;
  /** Removes its socket, lets running calls finish for up to 2 s. Always the same promise. */
  close(): Promise<void>;
  /** Stops as in a crash: cuts connections, and leaves the socket file behind without a listener. The second stop joins the first. */
  kill(): Promise<void>;
}

/**
 * Starts a CSI driver that serves what registrars and kubelet's registration call: it provisions, attaches and mounts
 * nothing, and answers calls beyond `CsiMethod` with UNIMPLEMENTED. Its answers come from the options. Resolves when it
 * listens. `close()`, `kill()` and `signal` end it.
 *
 * Rejects with INVALID_OPTION for a path that cannot be a socket, with SOCKET_UNUSABLE if another file has the path or
 * the directory is not writable, with ABORTED if the signal was aborted before it listened.
 */
export async function startCsiDriver(options: CsiDriverOptions): Promise<SimulatedCsiDriver> {
  const { signal, logger, ...driver } = resolveCsiDriverOptions(options);
  await pause(driver.listenAfterMs, signal ?? new AbortController().signal);
  refuseAborted("the simulated CSI driver", signal);

  const log = createEventLog<CsiDriverEvent>(
    `the simulated CSI driver ${driver.name}`,
    EVENT_KINDS,
    driver.waitTimeoutMs,
  );
  const faults = createFaultScript(driver.faults, (fault) => log.append({ kind: "fault-applied", fault }));
  let answers: ResolvedCsiDriverAnswers = driver;
  const handlers = createHandlers(driver.name, () => answers, faults, log.append);
  const server = createGrpcServer({
    log: logger,
    newServer: (_publication, client) => {
      const server = createObservedServer(client, (request) => log.append({ kind: "called", ...request }));
      server.addService(protos.identity, handlers);
      server.addService(protos.node, handlers);
      return server;
    },
  });
  const socket = await listenUntilCrash(driver.csiAddress, (connection) => server.accept(connection));
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
  signal?.addEventListener("abort", close);

  return {
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
      answers = readOptions("setAnswers", given, answersOr(answers));
    },
    close,
    kill: () => stop("kill"),
    [Symbol.asyncDispose]: close,
  };
}

/** Listens at a path, to end cleanly or as in a crash. */
export async function listenUntilCrash(path: string, onConnection: (connection: Socket) => void) {
  const connections = new Set<Socket>();
  const socket = createSocketFile((connection) => {
    connections.add(connection.unref()); // A kit that is not closed holds no process.
    connection.once("close", () => connections.delete(connection));
    onConnection(connection);
  }, silentLogger);
  await socket.publish(path, { overLiving: true, atOnce: true, signal: new AbortController().signal });
  const { server } = socket;
  server?.unref();
  return {
    withdraw: socket.withdraw,
    /** Closes every connection and the listener, and leaves the file behind. */
    crash: async (): Promise<void> => {
      server?.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

/** Creates a server for one client that reports each request. */
export function createObservedServer(
  client: GuardedClient,
  onRequest: (request: ObservedRequest) => void,
): Server {
  return createSmallServer({
    onRequest: ({ ":path": path = "", "grpc-timeout": timeout }) =>
      onRequest({
        method: path.slice(path.lastIndexOf("/") + 1),
        authority: client.authority() ?? "",
        ...(timeout !== undefined && { timeoutMs: timeoutMsOf(String(timeout)) }),
      }),
  });
}

function createHandlers(
  name: string,
  present: () => ResolvedCsiDriverAnswers,
  faults: FaultScript<CsiDriverFault>,
  emit: (event: WithoutTime<CsiDriverEvent>) => void,
) {
  const answers: Readonly<Record<CsiMethod, () => object>> = {
    GetPluginInfo: () => ({ name, vendorVersion: present().vendorVersion, manifest: {} }),
    Probe: () => ({ ready: { value: faults.take("not-ready") === undefined } }),
    NodeGetInfo: () => {
      const { nodeId, maxVolumes: maxVolumesPerNode, topology: segments } = present();
      const hasTopology = Object.keys(segments).length > 0;
      return { nodeId, maxVolumesPerNode, accessibleTopology: hasTopology ? { segments } : null };
    },
  };

  const handlerOf = (method: CsiMethod) =>
    unaryHandler<object, object>(async (_request, { signal }) => {
      const startedAt = monotonicMs();
      const report = (result: CsiAnswerResult) =>
        emit({ kind: "answered", method, durationMs: Math.round(monotonicMs() - startedAt), result });
      try {
        await misbehave(method, faults, signal);
        const response = answers[method]();
        report({ kind: "ok" });
        return response;
      } catch (error) {
        report({ kind: "error", error: messageOf(error) });
        throw error;
      }
    });
  return Object.fromEntries(CSI_METHODS.map((method) => [method, handlerOf(method)]));
}

async function misbehave(method: CsiMethod, faults: FaultScript<CsiDriverFault>, signal: AbortSignal) {
  const here = (fault: { readonly method: CsiMethod }) => fault.method === method;
  const slow = faults.take("slow", here);
  if (slow && !(await pause(slow.delayMs, signal))) throw new Error("the caller gave up");
  if (faults.take("hang", here)) {
    if (!signal.aborted) await once(signal, "abort");
    throw new Error("the caller gave up");
  }
  const failing = faults.take("error", here);
  if (failing) {
    const message = failing.message ?? `simulated ${failing.code} of ${method}`;
    throw Object.assign(new Error(message), { code: status[failing.code] });
  }
}
