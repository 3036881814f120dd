import { setMaxListeners } from "node:events";
import { RegistrarError } from "../../base/errors";
import type { EventOf } from "../../base/event-source";
import { pause, unlessAborted } from "../../base/pause";
import { behaviourOf } from "../../kubelet-rules/versions";
import { quoteText } from "../../logging/escape";
import { callbackOf, textKind } from "../../options/option-kinds";
import { optional, readOptions } from "../../options/read-options";
import { refuseAborted } from "../../options/start-options";
import { createEventLog, type EventStream, quietly, WAIT_OPTIONS, type WaitOptions } from "../event-stream";
import { createFaultScript } from "../simulator-options";
import { createKubeletContext } from "./calls";
import { KUBELET_EVENT_KINDS, type KubeletEvent } from "./events";
import { type CsiNodeObject, createNodeInfoManager, type NodeObject } from "./objects";
import { KUBELET_FAULTS, type KubeletFault, type KubeletOptions, resolveKubeletOptions } from "./options";
import { startPluginManager } from "./plugin-manager";

/** The options of `restart`. */
export interface RestartOptions {
  /**
   * Runs while no kubelet does, for `waitTimeoutMs` at most. What it throws rejects `restart`, and kubelet is started all the
   * same, unless it was closed. It may wait for `close()`, not for another restart. @default nothing
   */
  readonly whileDown?: (() => void | Promise<void>) | undefined;
}

/**
 * A kubelet's plugin registration, without the rest of kubelet. Its waits reject with TIMEOUT at their limit and with
 * ABORTED when given up or closed, and say how far kubelet came. ABORTED need not be awaited.
 */
export interface SimulatedKubelet extends AsyncDisposable {
  /** The directory that it watches, absolute. */
  readonly pluginRegistrationPath: string;
  /** Every step, in order. */
  readonly events: EventStream<KubeletEvent>;
  /**
   * Resolves once the driver is registered, at once if it is now, of a DRA driver with the newest instance that is. From a restart
   * on it is not, until it is again.
   */
  registered(driverName: string, options?: WaitOptions): Promise<EventOf<KubeletEvent, "registered">>;
  /** Resolves once the driver is not registered. A restart, or the end of one of several DRA instances, deregisters no driver. */
  deregistered(driverName: string, options?: WaitOptions): Promise<void>;
  /** Resolves with the driver's refusal: the latest, if no success followed it, else the next; with `from: "now"` the next. */
  refused(driverName: string, options?: WaitOptions): Promise<EventOf<KubeletEvent, "refused">>;
  /** A copy of the Node as it is now. */
  node(): NodeObject;
  /** A copy of the CSINode as it is now. */
  csiNode(): CsiNodeObject;
  /** Replaces the active faults. Throws INVALID_OPTION, and ABORTED once it is closed. */
  setFaults(faults: readonly KubeletFault[]): void;
  /**
   * Ends this kubelet as a kill would and starts it again: it forgets its list of drivers and its backoffs, but not the
   * Node and CSINode. From the call on `registered()` waits for what comes after it. Rejects with INVALID_OPTION, with
   * ABORTED once it is closed, with TIMEOUT if `whileDown` does not end, and with what that throws.
   */
  restart(options?: RestartOptions): Promise<void>;
  /** Ends it; drivers stay in the Node and CSINode, as when a kubelet stops. Always the same promise. */
  close(): Promise<void>;
}

/**
 * Starts a simulated kubelet: plugin watcher, reconciler and CSI registration handler, which a plugin cannot tell from
 * kubelet's, over the real sockets in `pluginRegistrationPath`. It mounts nothing, talks to no API server, and keeps
 * the Node and CSINode in memory. `events` has every step; the logger only hears which kubelet stands for another
 * version. `close()` and `signal` end it.
 *
 * Rejects with INVALID_OPTION, with SOCKET_UNUSABLE if it cannot make or watch the directory, with ABORTED if the signal was aborted before.
 */
export async function startKubelet(options: KubeletOptions): Promise<SimulatedKubelet> {
  const { signal, logger: log, ...resolved } = resolveKubeletOptions(options);
  refuseAborted("the simulated kubelet", signal);
  const { pluginRegistrationPath, nodeName, version, simulated, waitTimeoutMs } = resolved;
  if (simulated !== version)
    log.info("Simulating the kubelet that behaves like this version", { version, simulated });

  const steps = createEventLog<KubeletEvent>("the simulated kubelet", KUBELET_EVENT_KINDS, waitTimeoutMs);
  const drivers = followDrivers(steps.stream);
  const behaviour = behaviourOf(simulated);
  const nodeInfo = createNodeInfoManager(resolved, behaviour, steps.append);
  const faults = createFaultScript(resolved.faults, (fault, socketPath) => {
    if (fault.kind !== "never-call") steps.append({ kind: "fault-applied", fault, socketPath });
  });
  const parts = { behaviour, timings: resolved.timings, nodeInfo, faults, emit: steps.append };
  const startProcess = () => {
    const killed = new AbortController();
    setMaxListeners(0, killed.signal); // Each running call listens to it, and there may be a call for each socket.
    steps.append({ kind: "started", pluginRegistrationPath, nodeName, version, simulated });
    const manager = startPluginManager(resolved, createKubeletContext({ ...parts, signal: killed.signal }));
    return async (because: "restart" | "close") => {
      killed.abort();
      await manager.close();
      steps.append({ kind: "stopped", because });
    };
  };

  let stop: ReturnType<typeof startProcess> | undefined = startProcess();
  let turn: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;
  /** Aborted by `close()`, which `whileDown` of a restart may wait for. */
  const ending = new AbortController();

  const refuseClosed = () => {
    if (closing !== undefined) throw new RegistrarError("ABORTED", "the simulated kubelet is closed");
  };
  const restart = async (given: RestartOptions = {}) => {
    const { whileDown } = readOptions<RestartOptions>("restart", given, {
      whileDown: optional(callbackOf()),
    });
    // At once, so that `registered()` right after this call waits for the new process.
    drivers.forget();
    const restarted = turn.then(async () => {
      refuseClosed();
      await stop?.("restart");
      stop = undefined;
      const down = runDown(whileDown, waitTimeoutMs);
      await unlessAborted(
        down.catch(() => {}),
        ending.signal,
      );
      if (!closing) stop = startProcess();
      return { down };
    });
    turn = restarted.then(
      () => {},
      () => {},
    );
    await (await restarted).down;
  };

  const close = () => {
    closing ??= turn.then(async () => {
      signal?.removeEventListener("abort", close);
      await stop?.("close");
      steps.end();
    });
    ending.abort();
    return closing;
  };
  signal?.addEventListener("abort", close);

  /** Resolves with `known`, where there is that, else with the next event of this kind and driver. */
  const wait = async <Kind extends "registered" | "deregistered" | "refused", Known>(
    kind: Kind,
    known: Known | undefined,
    driverName: string,
    options: WaitOptions = {},
  ) => {
    textKind.read(driverName, `${kind}: driverName`);
    const bounds = readOptions(kind, options, WAIT_OPTIONS);
    const where = (event: { readonly driverName: string }) => event.driverName === driverName;
    const awaited = `${kind}(${quoteText(driverName)})`;
    const isPast = bounds.from !== "now" && known !== undefined;
    return isPast ? known : steps.wait(kind, { ...bounds, from: "now", where }, awaited);
  };

  return {
    pluginRegistrationPath,
    events: steps.stream,
    registered: (name, given) =>
      quietly(wait("registered", drivers.registered.get(name)?.at(-1), name, given)),
    deregistered: (name, given) =>
      quietly(
        wait("deregistered", drivers.registered.has(name) ? undefined : "gone", name, given).then(() => {}),
      ),
    refused: (name, given) => quietly(wait("refused", drivers.refused.get(name), name, given)),
    node: nodeInfo.node,
    csiNode: nodeInfo.csiNode,
    setFaults: (given) => {
      refuseClosed();
      faults.set(KUBELET_FAULTS.read(given, "setFaults: faults"));
    },
    restart: (given) => quietly(restart(given)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Runs what a restart does meanwhile. Rejects with TIMEOUT if that does not end. */
async function runDown(whileDown: RestartOptions["whileDown"], limitMs: number): Promise<void> {
  const ended = new AbortController();
  const late = pause(limitMs, ended.signal).then((isOver) => {
    const text = `whileDown of restart did not end within ${limitMs} ms; it must not wait for another restart`;
    if (isOver) throw new RegistrarError("TIMEOUT", text);
  });
  try {
    await Promise.race([whileDown?.(), late]);
  } finally {
    ended.abort();
  }
}

const othersOf = <Plugin extends { readonly socketPath: string }>(
  plugins: readonly Plugin[],
  { socketPath }: { readonly socketPath: string },
) => plugins.filter((plugin) => plugin.socketPath !== socketPath);

/** The latest word on each driver. */
function followDrivers(events: EventStream<KubeletEvent>) {
  /** Of a DRA driver, each instance. */
  const registered = new Map<string, readonly EventOf<KubeletEvent, "registered">[]>();
  const refused = new Map<string, EventOf<KubeletEvent, "refused">>();
  events.subscribe((event) => {
    if (event.kind === "registered") {
      const others = othersOf(registered.get(event.driverName) ?? [], event);
      registered.set(event.driverName, [...others, event]);
      refused.delete(event.driverName);
    } else if (event.kind === "operation-started" && event.operation === "deregister") {
      for (const [name, instances] of registered) {
        const others = othersOf(instances, event);
        if (others.length > 0) registered.set(name, others); // Without another, `deregistered` follows.
      }
    } else if (event.kind === "refused") refused.set(event.driverName, event);
    else if (event.kind === "deregistered") registered.delete(event.driverName);
    else if (event.kind === "stopped") registered.clear();
  });
  return {
    registered,
    refused,
    forget: () => {
      registered.clear();
      refused.clear();
    },
  };
}
