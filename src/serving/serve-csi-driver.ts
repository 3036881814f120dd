import { Server, status } from "@grpc/grpc-js";
import { invalidOption, messageOf, RegistrarError, refuse } from "../base/errors";
import { isPromise } from "../base/guarded-call";
import { fakeTimersHint, startTimer, stopTimer } from "../base/pause";
import { checkServices } from "../grpc/added-services";
import { guardHandlers } from "../grpc/guard-handlers";
import type { GetPluginInfoResponse } from "../grpc/protos";
import { createGrpcServer, hardenServer } from "../grpc/server";
import { statusCodeOf } from "../grpc/status";
import { escapeUnprintable } from "../logging/escape";
import { type Logger, UNHEARD } from "../logging/logger";
import { refuseAborted } from "../options/start-options";
import { OF_A_CSI_DRIVER } from "../registrar/model/options";
import type { Registration } from "../registrar/registration/registration";
import { registerPlugin } from "../registrar/start-registration";
import { warnIfUnheard } from "../registrar/warn-if-unheard";
import { type KeptSocket, keepListening } from "./driver-socket";
import { askFormerListener, askPluginInfo } from "./former-listener";
import { resolveServingOptions, type ServedCsiDriverOptions } from "./options";

/** A CSI driver that is served, and its registration. */
export interface ServedCsiDriver extends Registration {
  /** As its own GetPluginInfo answers. */
  readonly name: string;
  /** Where it listens, as this process sees it. */
  readonly csiAddress: string;
  /** Deregisters it, then removes its socket, then lets running calls end. Always the same promise. */
  close: Registration["close"];
}

/**
 * grpc-js' defaults hold, and what `serverOptions` says. Only root reaches a driver's socket, and a client that gives up
 * the calls of a slow driver may wait for others on the same connection.
 */
const NO_LIMIT = Number.POSITIVE_INFINITY;
const UNLIMITED = { maxConnections: NO_LIMIT, maxUnfinishedBytes: NO_LIMIT, maxFrames: NO_LIMIT };

const WAITS = "Waiting for running calls to end; a handler that awaits close() waits for itself";

const NODE_GET_INFO = "/csi.v1.Node/NodeGetInfo";
const WITHOUT_NODE_INFO =
  "addServices has added no handler of NodeGetInfo, without which kubelet refuses the driver: is one undefined, or misspelt?";

/** As `{ ...new Controller() }` has none: the methods of a class are not the instance's own. */
const WITHOUT_HANDLERS =
  "addServices has added no handler of this service, and each of its calls fails: pass an instance of a class itself, no copy";

/** Long, because a process that starts on a busy node is slow. */
const NAME_WITHIN_MS = 10_000;
/** Before a test runner's limit of 5 s, whose report would not say why. */
const STILL_UNNAMED_MS = 3_000;
const STILL_UNNAMED = "The driver's own GetPluginInfo has not answered yet: does its handler answer?";
/** With fake timers the call may hang for ever; jest and vitest give a test up after 5 s. */
const NAME_WITHIN_FAKED_MS = 3_000;

/**
 * Serves the driver's services with grpc-js' own server and registers the driver with kubelet: the driver and its
 * registrar in one call. Kubelets up to 1.25 reach it too: the socket's path, which they send as `:authority`, is replaced
 * before Node's HTTP/2 refuses it.
 *
 * The order is the one that kubelet needs: listen, ask the driver its name, publish the registration socket. At the
 * end: deregister, remove the socket, let running calls end. A socket that was removed is made again; another
 * driver's socket in its place stays as long as that driver lives. At the start it takes the path from a living listener: with a
 * warning unless that answers GetPluginInfo with the driver's name. The events `driver-call`, `driver-answered` and `driver-lost`
 * do not occur, because the driver is in this process. Resolves when the registration socket is in place;
 * `ready` resolves when kubelet has registered the driver. Ended by `close()`, by `signal`, by kubelet's refusal with
 * policy `end`, or by a failure.
 *
 * Rejects, and leaves nothing behind, with INVALID_OPTION, with SOCKET_UNUSABLE for either socket, with IDENTITY_MISSING
 * if `addServices` adds no GetPluginInfo or that answers no name, with DRIVER_FAILED if that fails, with DRIVER_TIMEOUT if it
 * takes 10 s (3 s with fake timers), with UNSAFE_DRIVER_NAME, with ABORTED if it was stopped before.
 *
 * @example
 * await using driver = await serveCsiDriver({
 *   csiAddress: "/csi/csi.sock",
 *   endpoint: "/var/lib/kubelet/plugins/disk.example.com/csi.sock",
 *   addServices: (server) => {
 *     server.addService(csi.Identity.service, identity);
 *     server.addService(csi.Node.service, node);
 *   },
 * });
 */
export async function serveCsiDriver(options: ServedCsiDriverOptions): Promise<ServedCsiDriver> {
  const { signal, logger: log, ...resolved } = resolveServingOptions(options);
  refuseAborted("the CSI driver", signal);
  const server = hardenServer(new Server(resolved.serverOptions), { log });
  const known = checkServices(server);
  const calls = guardHandlers(server, { log, isCut: () => driver.isCut, ...known });
  const driver = createGrpcServer({ newServer: () => server, log, limits: UNLIMITED });
  let socket: KeptSocket | undefined;
  let registration: Registration;
  let identity: GetPluginInfoResponse;

  const stopServing = async (graceMs: number) => {
    await socket?.withdraw();
    const methods = calls.unanswered();
    if (methods.length > 0 && graceMs > 0) log.info(WAITS, { methods, graceMs });
    await driver.close({ graceMs });
    await calls.end();
    Server.prototype.forceShutdown.call(server); // Else grpc-js keeps it in its channelz registry.
  };

  try {
    for (const name of NOT_FOR_AUTHORS) server[name] = () => refuseMethod(name, resolved.csiAddress);
    refusePromise(resolved.addServices(server));
    const unhandled = known.unhandled();
    for (const service of unhandled) log.warn(WITHOUT_HANDLERS, { service, ...UNHEARD });
    if (!known.handlerOf(NODE_GET_INFO) && !unhandled.includes("csi.v1.Node"))
      log.warn(WITHOUT_NODE_INFO, { method: NODE_GET_INFO });
    const tellFormer = await askFormerListener(resolved.csiAddress, log, signal);
    refuseAborted("the CSI driver", signal);
    socket = await keepListening(resolved.csiAddress, driver.accept, log);
    identity = await askIdentity(resolved, log, signal);
    tellFormer(identity.name);
    const { name } = identity;
    if (name === "")
      throw new RegistrarError(
        "IDENTITY_MISSING",
        "cannot learn the driver's name: GetPluginInfo answered without one",
      );
    const { csiAddress, addServices, serverOptions, graceMs, ...common } = resolved;
    const options = { ...common, ...OF_A_CSI_DRIVER, name, signal, logger: log };
    registration = await registerPlugin(options, identity);
  } catch (error) {
    await stopServing(0); // Only GetPluginInfo runs, of which nothing is needed any more.
    throw error;
  }

  const closed = registration.closed.then(async (outcome) => {
    await stopServing(resolved.graceMs);
    return outcome;
  });
  const close = () => {
    registration.close().catch(() => {}); // It never rejects.
    return closed;
  };
  return warnIfUnheard({
    ...registration,
    ...{ name: identity.name, csiAddress: resolved.csiAddress, closed, close },
    destroy: () => {
      driver.destroy();
      registration.destroy().catch(() => {}); // It never rejects.
      return closed;
    },
    [Symbol.asyncDispose]: async () => void (await close()),
  });
}

/** They would listen elsewhere, or end the server while the driver stays registered. */
const NOT_FOR_AUTHORS = [
  ...(["addHttp2Port", "bind", "bindAsync", "start"] as const),
  ...(["drain", "forceShutdown", "tryShutdown", "unbind"] as const),
];

const refuseMethod = (name: string, csiAddress: string) =>
  refuse(
    `serveCsiDriver: server.${name}() must not be called: serveCsiDriver listens at ${csiAddress}, and the driver's close() ends the server`,
  );

/** Services that come later would be missing when kubelet calls. */
function refusePromise(returned: unknown): void {
  if (!isPromise(returned)) return;
  returned.catch(() => {});
  throw invalidOption("serveCsiDriver: addServices is async; it must add the services before it returns");
}

/** A driver that does not answer on its socket must not be registered. */
async function askIdentity(
  { csiAddress, serverOptions }: Pick<ServedCsiDriverOptions, "csiAddress" | "serverOptions">,
  log: Logger,
  signal: AbortSignal | undefined,
): Promise<GetPluginInfoResponse> {
  const reminder = startTimer(() => log.warn(STILL_UNNAMED, { csiAddress, ...UNHEARD }), STILL_UNNAMED_MS);
  try {
    const timeoutMs = fakeTimersHint() === "" ? NAME_WITHIN_MS : NAME_WITHIN_FAKED_MS;
    return await askPluginInfo(csiAddress, { timeoutMs, signal });
  } catch (cause) {
    refuseAborted("the CSI driver", signal);
    const text = `cannot learn the driver's name: GetPluginInfo failed with ${escapeUnprintable(messageOf(cause))}`;
    const code = statusCodeOf(cause);
    if (code === status.UNIMPLEMENTED)
      throw new RegistrarError("IDENTITY_MISSING", `${text}; addServices must add csi.v1.Identity with it`, {
        cause,
      });
    if (code !== status.DEADLINE_EXCEEDED) throw new RegistrarError("DRIVER_FAILED", text, { cause });
    const isIntercepted = serverOptions?.interceptors?.length;
    const hint = isIntercepted ? "; does an interceptor pass on what it receives, and what is sent?" : "";
    throw new RegistrarError("DRIVER_TIMEOUT", `${text}${fakeTimersHint()}${hint}`, { cause });
  } finally {
    stopTimer(reminder);
  }
}
