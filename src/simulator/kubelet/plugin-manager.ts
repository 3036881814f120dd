import type { Client } from "@grpc/grpc-js";
import { monotonicMs, startTimer, stopTimer } from "../../base/pause";
import { callUnary } from "../../grpc/client/unary";
import { protos, type RegistrationStatus } from "../../grpc/protos";
import { authorityFor } from "../../kubelet-rules/versions";
import { connected, createKubeletClient, inUtf8, type KubeletContext } from "./calls";
import type { DeregistrationCause, IntroducedPlugin, RefusalStage } from "./events";
import type { ResolvedKubeletOptions } from "./options";
import {
  createPluginHandlers,
  type OfferedPlugin,
  type PluginHandler,
  type Refusal,
} from "./plugin-handlers";
import { type DesiredPlugin, startPluginWatcher } from "./plugin-watcher";

interface PathBackoff {
  readonly waitMs: number;
  /** When it ends, by `monotonicMs()`. */
  readonly untilMs: number;
}

/**
 * Starts the loop: compare the desired with the actual state, start what is missing, sleep, and again. Each path has at most
 * one operation, and none while it is backing off. A new socket on the path inherits the wait.
 * Sources: `plugin_manager.go` and `reconciler/reconciler.go` in `pkg/kubelet/pluginmanager`; `goroutinemap.go` and
 * `exponentialbackoff/exponential_backoff.go` in `pkg/util/goroutinemap`.
 */
export function startPluginManager(
  {
    pluginRegistrationPath,
    reconcilePeriodMs,
  }: Pick<ResolvedKubeletOptions, "pluginRegistrationPath" | "reconcilePeriodMs">,
  kubelet: KubeletContext,
) {
  const { behaviour, timings, faults, emit, signal } = kubelet;
  const { desired, close } = startPluginWatcher(pluginRegistrationPath, behaviour, emit);
  const actual = new Map<string, ActualPlugin>();
  const handlers = createPluginHandlers(kubelet);
  const register = createRegister(kubelet, handlers, actual);
  const running = new Map<string, Promise<void>>();
  const backoffs = new Map<string, PathBackoff>();
  const reported = new Map<string, PathBackoff | "never-call">();

  /** Whether the next rounds try again by themselves: not if the plugin stayed in the actual state of world. */
  const isStillMissing = (socketPath: string) => {
    const wanted = desired.get(socketPath);
    return wanted !== undefined && actual.get(socketPath)?.generation !== wanted.generation;
  };

  const finish = (socketPath: string, error: string | undefined) => {
    running.delete(socketPath);
    const before = backoffs.get(socketPath);
    backoffs.delete(socketPath);
    if (error === undefined) return;
    const waitMs = before ? Math.min(before.waitMs * 2, timings.backoffMaxMs) : timings.backoffInitialMs;
    backoffs.set(socketPath, { waitMs, untilMs: monotonicMs() + waitMs });
    if (signal.aborted) return;
    emit({ kind: "failed", socketPath, error, backoffMs: waitMs, retries: isStillMissing(socketPath) });
  };

  const reportWait = (socketPath: string, wait: PathBackoff | "never-call", nowMs: number) => {
    if (reported.get(socketPath) === wait) return;
    reported.set(socketPath, wait);
    const isBackoff = wait !== "never-call";
    const because = isBackoff
      ? { kind: "backoff" as const, remainingMs: wait.untilMs - nowMs }
      : { kind: wait };
    emit({ kind: "waiting", socketPath, because });
  };

  const start = (
    operation: "register" | "deregister",
    socketPath: string,
    run: () => Promise<string | undefined>,
    nowMs: number,
  ) => {
    if (operation === "register" && faults.take("never-call"))
      return reportWait(socketPath, "never-call", nowMs);
    if (running.has(socketPath)) return;
    const backoff = backoffs.get(socketPath);
    if (backoff && backoff.untilMs > nowMs) return reportWait(socketPath, backoff, nowMs);
    emit({ kind: "operation-started", operation, socketPath });
    running.set(
      socketPath,
      run().then((error) => finish(socketPath, error)),
    );
  };

  /** From the actual state of world first, so that the plugin's next socket can be registered. */
  const deregister = async (plugin: ActualPlugin, because: DeregistrationCause): Promise<undefined> => {
    actual.delete(plugin.socketPath);
    handlers.get(plugin.pluginType)?.deregister(plugin, because);
  };

  /** A replaced socket is deregistered first, and registered in the next round. */
  const tick = () => {
    const nowMs = monotonicMs(); // One for all: a backoff must not end between the two operations of a path.
    for (const plugin of actual.values()) {
      const now = desired.get(plugin.socketPath);
      const because = now ? "socket-replaced" : "socket-gone";
      if (now?.generation !== plugin.generation)
        start("deregister", plugin.socketPath, () => deregister(plugin, because), nowMs);
    }
    for (const plugin of desired.values())
      if (isStillMissing(plugin.socketPath))
        start("register", plugin.socketPath, () => register(plugin), nowMs);
    timer = startTimer(tick, reconcilePeriodMs).unref(); // A kit that is not closed holds no process; a wait does.
  };
  let timer: NodeJS.Timeout | undefined;
  tick();

  return {
    /** Stops the loop and waits for running operations, which the signal given at the start must have ended. */
    close: async (): Promise<void> => {
      stopTimer(timer);
      close();
      await Promise.all(running.values());
    },
  };
}

type ActualPlugin = DesiredPlugin & IntroducedPlugin;

const PREFIX = "RegisterPlugin error -- ";

/**
 * Makes what registers the plugin behind one socket: dial, GetInfo, validate, register, notify. Each failure ends it; before that,
 * a refusal is sent to the registrar. Resolves with the error; undefined: no error.
 * Source: `GenerateRegisterPluginFunc` in `pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go`.
 */
function createRegister(
  { behaviour, call, emit, faults, timings, signal }: KubeletContext,
  handlers: ReadonlyMap<string, PluginHandler>,
  actual: Map<string, ActualPlugin>,
) {
  const notify = (client: Client, socketPath: string, status: RegistrationStatus) => {
    const method = protos.registration.NotifyRegistrationStatus;
    const bounds = { timeoutMs: timings.notifyMs, signal };
    return call("NotifyRegistrationStatus", socketPath, () => callUnary(client, method, status, bounds));
  };

  const refuse = async (client: Client, plugin: IntroducedPlugin, stage: RefusalStage, problem: string) => {
    const sent = `${PREFIX}${problem}`;
    emit({ kind: "refused", ...plugin, stage, error: sent });
    const notified = await notify(client, plugin.socketPath, { pluginRegistered: false, error: sent });
    const error = notified.kind === "ok" ? sent : `${sent}: ${notified.error}`;
    // Before a registration kubelet treats the error that it has sent as a failure to send it.
    const isSent = stage === "registration";
    return isSent ? error : `${PREFIX}failed to send error at socket ${plugin.socketPath}, err: ${error}`;
  };

  const confirm = async (client: Client, plugin: IntroducedPlugin, handler: PluginHandler) => {
    const { driverName: name, socketPath } = plugin;
    emit({ kind: "registered", ...plugin });
    const isMeant = ({ driverName = name }) => driverName === name;
    const isDropped = faults.take("drop-before-status", isMeant, socketPath) !== undefined;
    if (isDropped) client.close();
    const lost = `rpc error: code = Unavailable desc = ${behaviour.lostConnectionWording}`;
    const notified = isDropped
      ? ({ kind: "error", error: lost } as const)
      : await notify(client, socketPath, { pluginRegistered: true, error: "" });
    if (signal.aborted || notified.kind === "ok") return undefined;
    if (behaviour.afterFailure === "forget") {
      actual.delete(socketPath);
      handler.deregister(plugin, "status-lost");
    }
    // The reason of a refusal would be before the second colon.
    return `${PREFIX}failed to send registration status at socket ${socketPath}, err: : ${notified.error}`;
  };

  const decide = async (client: Client, desired: DesiredPlugin, offered: OfferedPlugin) => {
    const { versions: _, ...plugin } = offered;
    const { pluginType, driverName: name, socketPath } = plugin;
    const refusalByFault = (wanted: "validation" | "registration"): Refusal =>
      faults.take(
        "refuse",
        ({ stage = "registration", driverName = name }) => stage === wanted && driverName === name,
        socketPath,
      )?.error;

    const handler = handlers.get(pluginType);
    if (handler === undefined) {
      const problem = `no handler registered for plugin type: ${pluginType} at socket ${socketPath}`;
      return refuse(client, plugin, "no-handler", problem);
    }
    const invalid = refusalByFault("validation") ?? handler.validate(offered);
    if (invalid !== undefined)
      return refuse(client, plugin, "validation", `plugin validation failed with err: ${invalid}`);
    // Before the handler's long call: if the socket disappears meanwhile, it is deregistered after the call.
    actual.set(socketPath, { ...desired, ...plugin });
    const refusal = refusalByFault("registration") ?? (await handler.register(offered));
    if (signal.aborted) return undefined;
    if (refusal === undefined) return confirm(client, plugin, handler);
    if (behaviour.afterFailure === "forget") actual.delete(socketPath);
    return refuse(client, plugin, "registration", `plugin registration failed with err: ${refusal}`);
  };

  return async (desired: DesiredPlugin): Promise<string | undefined> => {
    const { socketPath } = desired;
    const client = createKubeletClient(socketPath, authorityFor(behaviour.registrationAuthority, socketPath));
    try {
      const dialled = await call("dial", socketPath, () => connected(client, timings.dialMs, signal));
      if (dialled.kind === "error") {
        const why = `failed to dial socket ${socketPath}, err: ${dialled.error}`;
        return `${PREFIX}dial failed at socket ${socketPath}, err: ${why}`;
      }
      const { GetInfo } = protos.registration;
      const method = behaviour.checksUtf8 ? inUtf8(GetInfo) : GetInfo;
      const asked = await call("GetInfo", socketPath, () =>
        callUnary(client, method, {}, { timeoutMs: timings.getInfoMs, signal }),
      );
      if (asked.kind === "error")
        return `${PREFIX}failed to get plugin info using RPC GetInfo at socket ${socketPath}, err: ${asked.error}`;
      const { type: pluginType, name: driverName, supportedVersions: versions } = asked.answer;
      // An empty endpoint means the registration socket itself.
      const endpoint = asked.answer.endpoint || socketPath;
      return await decide(client, desired, { driverName, pluginType, endpoint, socketPath, versions });
    } finally {
      client.close();
    }
  };
}
