import type { Client } from "@grpc/grpc-js";
import type { Protos, RegistrationStatus } from "../grpc/protos";
import { callUnary } from "../grpc/unary";
import type { Caller } from "./calls";
import type { FaultScript } from "./faults";
import { connected, createKubeletClient } from "./kubelet-client";
import type { DeregistrationCause, Emit } from "./kubelet-events";
import type { KubeletFault } from "./kubelet-faults";
import type { KubeletTimings } from "./kubelet-options";
import type { OperationOutcome } from "./operation-executor";
import type { PluginHandlers, Verdict } from "./plugin-handler";
import type { ActualPlugin, DesiredPlugin } from "./reconciler";
import { authorityFor, type KubeletBehaviour } from "./versions";

/** What operations work with. */
export interface OperationContext {
  readonly behaviour: KubeletBehaviour;
  readonly timings: KubeletTimings;
  readonly protos: Protos;
  readonly handlers: PluginHandlers;
  /** The actual state of world, by socket path. */
  readonly actual: Map<string, ActualPlugin>;
  readonly faults: FaultScript<KubeletFault>;
  readonly call: Caller;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

const DONE: OperationOutcome = { kind: "done" };

/**
 * Registers the plugin behind one socket: dial, GetInfo, validate, register, notify. Each failure ends it; what was
 * refused is told to the registrar first. Never throws.
 * Source: `GenerateRegisterPluginFunc` in `pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go`.
 */
export async function register(plugin: DesiredPlugin, context: OperationContext): Promise<OperationOutcome> {
  const { socketPath } = plugin;
  const authority = authorityFor(context.behaviour.registrationAuthority, socketPath);
  const client = createKubeletClient(socketPath, authority);
  try {
    return await registerOver(client, plugin, context);
  } finally {
    client.close();
  }
}

/**
 * Takes a plugin out: off the actual state of world first, so that its next socket can be registered, then off its
 * handler, which for CSI goes by the name alone. Never throws.
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

async function registerOver(
  client: Client,
  plugin: DesiredPlugin,
  context: OperationContext,
): Promise<OperationOutcome> {
  const { timings, protos, handlers, actual, call, emit, signal } = context;
  const { socketPath } = plugin;

  const dialled = await call("dial", socketPath, () => connected(client, timings.dialMs, signal));
  if (dialled.kind === "error") {
    return failure(
      `dial failed at socket ${socketPath}, err: failed to dial socket ${socketPath}, err: ${dialled.error}`,
    );
  }
  const asked = await call("GetInfo", socketPath, () =>
    callUnary(client, protos.registration.GetInfo, {}, { timeoutMs: timings.getInfoMs, signal }),
  );
  if (asked.kind === "error") {
    return failure(
      `failed to get plugin info using RPC GetInfo at socket ${socketPath}, err: ${asked.error}`,
    );
  }

  const { type: pluginType, name, supportedVersions: versions } = asked.answer;
  // An empty endpoint means the registration socket itself.
  const endpoint = asked.answer.endpoint || socketPath;
  const refuse = async (stage: "no-handler" | "validation" | "registration", reason: string) => {
    const text = `RegisterPlugin error -- ${reason}`;
    emit({ kind: "refused", driverName: name, pluginType, endpoint, socketPath, stage, reason: text });
    const told = await notify(client, { pluginRegistered: false, error: text }, socketPath, context);
    return failure(told.kind === "ok" ? reason : `${reason}: ${told.error}`);
  };

  const handler = handlers.get(pluginType);
  if (handler === undefined) {
    return refuse(
      "no-handler",
      `no handler registered for plugin type: ${pluginType} at socket ${socketPath}`,
    );
  }
  const valid =
    faulty("validation", name, socketPath, context) ?? handler.validate({ name, endpoint, versions });
  if (valid.kind === "refused") {
    return refuse("validation", `plugin validation failed with err: ${valid.reason}`);
  }
  // Before the handler's long call: a socket that goes meanwhile is then unregistered when the call is over.
  actual.set(socketPath, { ...plugin, pluginType, name, endpoint });
  const taken =
    faulty("registration", name, socketPath, context) ??
    (await handler.register({ name, endpoint, versions }));
  if (signal.aborted) return DONE;
  if (taken.kind === "refused") {
    if (context.behaviour.afterFailure === "forget") actual.delete(socketPath);
    return refuse("registration", `plugin registration failed with err: ${taken.reason}`);
  }

  const told = dropped(client, name, socketPath, context)
    ? ({
        kind: "error",
        error: "rpc error: code = Unavailable desc = error reading from server: EOF",
      } as const)
    : await notify(client, { pluginRegistered: true, error: "" }, socketPath, context);
  const registered = { kind: "registered", driverName: name, pluginType, endpoint, socketPath } as const;
  if (signal.aborted) return DONE;
  if (told.kind === "ok") {
    emit(registered);
    return DONE;
  }
  if (context.behaviour.afterFailure === "forget") {
    actual.delete(socketPath);
    handler.deregister({ name, endpoint }, "notice-failed");
  } else {
    emit({ ...registered, noticeError: told.error });
  }
  return failure(`failed to send registration status at socket ${socketPath}, err: : ${told.error}`);
}

function notify(client: Client, status: RegistrationStatus, socketPath: string, context: OperationContext) {
  const { call, protos, timings, signal } = context;
  const method = protos.registration.NotifyRegistrationStatus;
  return call("NotifyRegistrationStatus", socketPath, () =>
    callUnary(client, method, status, { timeoutMs: timings.notifyMs, signal }),
  );
}

/** The verdict that a fault puts in the handler's place; undefined where none is in force. */
function faulty(
  stage: "validation" | "registration",
  name: string,
  socketPath: string,
  { faults, emit }: OperationContext,
): Verdict | undefined {
  const fault = faults.take(
    "refuse",
    (candidate) => (candidate.stage ?? "registration") === stage && (candidate.driverName ?? name) === name,
  );
  if (fault === undefined) return undefined;
  emit({ kind: "fault-applied", fault, socketPath });
  return { kind: "refused", reason: fault.reason };
}

/** Whether a fault broke the connection just now. */
function dropped(
  client: Client,
  name: string,
  socketPath: string,
  { faults, emit }: OperationContext,
): boolean {
  const fault = faults.take("drop-before-notice", ({ driverName }) => (driverName ?? name) === name);
  if (fault === undefined) return false;
  emit({ kind: "fault-applied", fault, socketPath });
  client.close();
  return true;
}

function failure(problem: string): OperationOutcome {
  return { kind: "failed", error: `RegisterPlugin error -- ${problem}` };
}
