import type { Client } from "@grpc/grpc-js";
import { callUnary } from "../../grpc/client/unary";
import { protos, type RegistrationStatus } from "../../grpc/protos";
import { authorityFor } from "../../kubelet-rules/versions";
import { type Called, connected, createKubeletClient } from "./calls";
import type { KubeletContext, PluginHandler, Refusal } from "./context";
import type { DeregistrationCause, IntroducedPlugin, RefusalStage } from "./events";
import type { DesiredPlugin } from "./plugin-watcher";

export type ActualPlugin = DesiredPlugin & IntroducedPlugin;

export interface OperationContext extends KubeletContext {
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** The actual state of world, by socket path. */
  readonly actual: Map<string, ActualPlugin>;
}

/** A plugin that has introduced itself, and the connection to it. */
interface Attempt {
  readonly client: Client;
  readonly plugin: DesiredPlugin;
  readonly introduced: IntroducedPlugin;
  readonly versions: readonly string[];
  readonly context: OperationContext;
}

/** How each of kubelet's texts about a registration begins. */
const PREFIX = "RegisterPlugin error -- ";
const CONNECTION_LOST = "rpc error: code = Unavailable desc = error reading from server: EOF";

/**
 * Registers the plugin behind one socket: dial, GetInfo, validate, register, notify. Each failure ends it; before that,
 * a refusal is sent to the registrar. Resolves with the error; undefined: no error.
 * Source: `GenerateRegisterPluginFunc` in `pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go`.
 */
export async function register(
  plugin: DesiredPlugin,
  context: OperationContext,
): Promise<string | undefined> {
  const { socketPath } = plugin;
  const { behaviour, call, timings, signal } = context;
  const client = createKubeletClient(socketPath, authorityFor(behaviour.registrationAuthority, socketPath));
  try {
    const dialled = await call("dial", socketPath, () => connected(client, timings.dialMs, signal));
    if (dialled.kind === "error") {
      const why = `failed to dial socket ${socketPath}, err: ${dialled.error}`;
      return `${PREFIX}dial failed at socket ${socketPath}, err: ${why}`;
    }
    const asked = await call("GetInfo", socketPath, () =>
      callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: timings.getInfoMs, signal }),
    );
    if (asked.kind === "error")
      return `${PREFIX}failed to get plugin info using RPC GetInfo at socket ${socketPath}, err: ${asked.error}`;
    const { type: pluginType, name: driverName, supportedVersions: versions } = asked.answer;
    // An empty endpoint means the registration socket itself.
    const endpoint = asked.answer.endpoint || socketPath;
    const introduced = { driverName, pluginType, endpoint, socketPath };
    return await decide({ client, plugin, introduced, versions, context });
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
  { actual, handlers }: OperationContext,
): Promise<undefined> {
  actual.delete(plugin.socketPath);
  handlers.get(plugin.pluginType)?.deregister(plugin, because);
}

async function decide(attempt: Attempt): Promise<string | undefined> {
  const { plugin, introduced, versions, context } = attempt;
  const { pluginType, socketPath } = introduced;
  const offer = { ...introduced, versions };
  const { handlers, actual, behaviour, signal } = context;

  const handler = handlers.get(pluginType);
  if (handler === undefined) {
    const problem = `no handler registered for plugin type: ${pluginType} at socket ${socketPath}`;
    return refuse(attempt, "no-handler", problem);
  }
  const invalid = refusalByFault(attempt, "validation") ?? handler.validate(offer);
  if (invalid !== undefined)
    return refuse(attempt, "validation", `plugin validation failed with err: ${invalid}`);
  // Before the handler's long call: if the socket disappears meanwhile, it is unregistered after the call.
  actual.set(socketPath, { ...plugin, ...introduced });
  const refusal = refusalByFault(attempt, "registration") ?? (await handler.register(offer));
  if (signal.aborted) return undefined;
  if (refusal !== undefined) {
    if (behaviour.afterFailure === "forget") actual.delete(socketPath);
    return refuse(attempt, "registration", `plugin registration failed with err: ${refusal}`);
  }
  return confirm(attempt, handler);
}

async function refuse(attempt: Attempt, stage: RefusalStage, problem: string): Promise<string> {
  const { introduced, context } = attempt;
  const reason = `${PREFIX}${problem}`;
  context.emit({ kind: "refused", ...introduced, stage, reason });
  const notified = await notify(attempt, { pluginRegistered: false, error: reason });
  const error = notified.kind === "ok" ? reason : `${reason}: ${notified.error}`;
  if (stage === "registration") return error;
  // Before a registration kubelet treats the error that it has sent as a failure to send it.
  return `${PREFIX}failed to send error at socket ${introduced.socketPath}, err: ${error}`;
}

/** Reports a success to the registrar; if that fails, the kubelet's version decides what follows. */
async function confirm(attempt: Attempt, handler: PluginHandler): Promise<string | undefined> {
  const { introduced, context } = attempt;
  const { socketPath } = introduced;
  context.emit({ kind: "registered", ...introduced });
  const notified = isDropped(attempt)
    ? ({ kind: "error", error: CONNECTION_LOST } as const)
    : await notify(attempt, { pluginRegistered: true, error: "" });
  if (context.signal.aborted || notified.kind === "ok") return undefined;
  if (context.behaviour.afterFailure === "forget") {
    context.actual.delete(socketPath);
    handler.deregister(introduced, "notice-failed");
  }
  // The reason of a refusal would be before the second colon.
  return `${PREFIX}failed to send registration status at socket ${socketPath}, err: : ${notified.error}`;
}

function notify({ client, plugin, context }: Attempt, status: RegistrationStatus): Promise<Called<unknown>> {
  const { call, timings, signal } = context;
  const method = protos.registration.NotifyRegistrationStatus;
  const bounds = { timeoutMs: timings.notifyMs, signal };
  return call("NotifyRegistrationStatus", plugin.socketPath, () => callUnary(client, method, status, bounds));
}

function refusalByFault({ introduced, context }: Attempt, wanted: "validation" | "registration"): Refusal {
  const { driverName: name, socketPath } = introduced;
  const fault = context.faults.take(
    "refuse",
    ({ stage = "registration", driverName = name }) => stage === wanted && driverName === name,
  );
  if (fault) context.emit({ kind: "fault-applied", fault, socketPath });
  return fault?.reason;
}

function isDropped({ client, introduced, context }: Attempt): boolean {
  const { driverName: name, socketPath } = introduced;
  const fault = context.faults.take("drop-before-notice", ({ driverName = name }) => driverName === name);
  if (fault === undefined) return false;
  context.emit({ kind: "fault-applied", fault, socketPath });
  client.close();
  return true;
}
