import type { Client } from "@grpc/grpc-js";
import { callUnary } from "../grpc/client/unary";
import { type PluginInfo, protos, type RegistrationStatus } from "../grpc/protos";
import { authorityFor } from "../kubelet-rules/versions";
import type { Called } from "./calls";
import { connected, createKubeletClient } from "./kubelet-client";
import type { KubeletContext } from "./kubelet-context";
import type { DeregistrationCause, RefusalStage } from "./kubelet-events";
import type { OperationOutcome } from "./operation-executor";
import type { HandlerAnswer, OfferedPlugin, PluginHandler, PluginHandlers } from "./plugin-handler";
import type { ActualPlugin, DesiredPlugin } from "./reconciler";

/** What operations work with. */
export interface OperationContext extends KubeletContext {
  readonly handlers: PluginHandlers;
  /** The actual state of world, by socket path. */
  readonly actual: Map<string, ActualPlugin>;
}

const DONE: OperationOutcome = { kind: "done" };
/** How each of kubelet's texts about a registration begins. */
const PREFIX = "RegisterPlugin error -- ";
const CONNECTION_LOST = "rpc error: code = Unavailable desc = error reading from server: EOF";

/**
 * Registers the plugin behind one socket: dial, GetInfo, validate, register, notify. Each failure ends it; before that,
 * a refusal is reported to the registrar.
 * Source: `GenerateRegisterPluginFunc` in `pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go`.
 */
export async function register(plugin: DesiredPlugin, context: OperationContext): Promise<OperationOutcome> {
  const { socketPath } = plugin;
  const authority = authorityFor(context.behaviour.registrationAuthority, socketPath);
  const client = createKubeletClient(socketPath, authority);
  try {
    const introduced = await introduce(client, socketPath, context);
    if (introduced.kind === "error") return failure(introduced.error);
    const { type: pluginType, name, endpoint, supportedVersions: versions } = introduced.answer;
    // An empty endpoint means the registration socket itself.
    const offer = { name, endpoint: endpoint || socketPath, versions };
    return await decide({ client, plugin, pluginType, offer, context });
  } finally {
    client.close();
  }
}

/**
 * Removes a plugin: from the actual state of world first, so that its next socket can be registered, then from its
 * handler, which for CSI uses only the name.
 */
export async function unregister(
  plugin: ActualPlugin,
  because: DeregistrationCause,
  context: OperationContext,
): Promise<OperationOutcome> {
  context.actual.delete(plugin.socketPath);
  context.handlers.get(plugin.pluginType)?.deregister(plugin, because);
  return DONE;
}

/** A plugin that has introduced itself, and the connection to it. */
interface Attempt {
  readonly client: Client;
  readonly plugin: DesiredPlugin;
  readonly pluginType: string;
  readonly offer: OfferedPlugin;
  readonly context: OperationContext;
}

async function introduce(
  client: Client,
  socketPath: string,
  { call, timings, signal }: OperationContext,
): Promise<Called<PluginInfo>> {
  const wrong = (what: string, why: string) =>
    ({ kind: "error", error: `${what} ${socketPath}, err: ${why}` }) as const;
  const dialled = await call("dial", socketPath, () => connected(client, timings.dialMs, signal));
  if (dialled.kind === "error") {
    return wrong("dial failed at socket", wrong("failed to dial socket", dialled.error).error);
  }
  const bounds = { timeoutMs: timings.getInfoMs, signal };
  const asked = await call("GetInfo", socketPath, () =>
    callUnary(client, protos.registration.GetInfo, {}, bounds),
  );
  if (asked.kind === "ok") return asked;
  return wrong("failed to get plugin info using RPC GetInfo at socket", asked.error);
}

async function decide(attempt: Attempt): Promise<OperationOutcome> {
  const { plugin, pluginType, offer, context } = attempt;
  const { socketPath } = plugin;
  const { handlers, actual, behaviour, signal } = context;

  const handler = handlers.get(pluginType);
  if (handler === undefined) {
    const reason = `no handler registered for plugin type: ${pluginType} at socket ${socketPath}`;
    return refuse(attempt, "no-handler", reason);
  }
  const valid = faultyAnswer(attempt, "validation") ?? handler.validate(offer);
  if (valid.kind === "refused") {
    return refuse(attempt, "validation", `plugin validation failed with err: ${valid.reason}`);
  }
  // Before the handler's long call: if the socket disappears meanwhile, it is unregistered after the call.
  actual.set(socketPath, { ...plugin, pluginType, name: offer.name, endpoint: offer.endpoint });
  const taken = faultyAnswer(attempt, "registration") ?? (await handler.register(offer));
  if (signal.aborted) return DONE;
  if (taken.kind === "refused") {
    if (behaviour.afterFailure === "forget") actual.delete(socketPath);
    return refuse(attempt, "registration", `plugin registration failed with err: ${taken.reason}`);
  }
  return confirm(attempt, handler);
}

async function refuse(attempt: Attempt, stage: RefusalStage, problem: string): Promise<OperationOutcome> {
  const { plugin, pluginType, offer, context } = attempt;
  const { name: driverName, endpoint } = offer;
  const reason = `${PREFIX}${problem}`;
  context.emit({
    kind: "refused",
    driverName,
    pluginType,
    endpoint,
    socketPath: plugin.socketPath,
    stage,
    reason,
  });
  const told = await notify(attempt, { pluginRegistered: false, error: reason });
  const error = told.kind === "ok" ? reason : `${reason}: ${told.error}`;
  if (stage === "registration") return { kind: "failed", error };
  // Before a registration kubelet treats the error that it has sent as a failure to send it.
  return failure(`failed to send error at socket ${plugin.socketPath}, err: ${error}`);
}

/**
 * Reports the success to the registrar, which has happened by then; if that fails, the kubelet's version decides what
 * follows.
 */
async function confirm(attempt: Attempt, handler: PluginHandler): Promise<OperationOutcome> {
  const { plugin, pluginType, offer, context } = attempt;
  const { socketPath } = plugin;
  const { name: driverName, endpoint } = offer;
  context.emit({ kind: "registered", driverName, pluginType, endpoint, socketPath });
  const told = isDropped(attempt)
    ? ({ kind: "error", error: CONNECTION_LOST } as const)
    : await notify(attempt, { pluginRegistered: true, error: "" });
  if (context.signal.aborted || told.kind === "ok") return DONE;
  if (context.behaviour.afterFailure === "forget") {
    context.actual.delete(socketPath);
    handler.deregister(offer, "notice-failed");
  }
  // The reason of a refusal would be before the second colon.
  return failure(`failed to send registration status at socket ${socketPath}, err: : ${told.error}`);
}

function notify({ client, plugin, context }: Attempt, status: RegistrationStatus): Promise<Called<unknown>> {
  const { call, timings, signal } = context;
  const method = protos.registration.NotifyRegistrationStatus;
  const bounds = { timeoutMs: timings.notifyMs, signal };
  return call("NotifyRegistrationStatus", plugin.socketPath, () => callUnary(client, method, status, bounds));
}

/** The verdict of a fault instead of the handler's; undefined if no fault is active. */
function faultyAnswer(
  { offer, plugin, context }: Attempt,
  stage: "validation" | "registration",
): HandlerAnswer | undefined {
  const fault = context.faults.take(
    "refuse",
    (candidate) =>
      (candidate.stage ?? "registration") === stage && (candidate.driverName ?? offer.name) === offer.name,
  );
  if (fault === undefined) return undefined;
  context.emit({ kind: "fault-applied", fault, socketPath: plugin.socketPath });
  return { kind: "refused", reason: fault.reason };
}

/** Whether a fault broke the connection just now. */
function isDropped({ client, offer, plugin, context }: Attempt): boolean {
  const fault = context.faults.take(
    "drop-before-notice",
    ({ driverName }) => (driverName ?? offer.name) === offer.name,
  );
  if (fault === undefined) return false;
  context.emit({ kind: "fault-applied", fault, socketPath: plugin.socketPath });
  client.close();
  return true;
}

function failure(problem: string): OperationOutcome {
  return { kind: "failed", error: `${PREFIX}${problem}` };
}
