import { setMaxListeners } from "node:events";
import { messageOf, RegistrarError } from "../errors";
import { loadProtos, type Protos } from "../grpc/protos";
import { createCaller } from "./calls";
import type { CsiNodeObject } from "./csi-node";
import { createCsiRegistrationHandler } from "./csi-registration-handler";
import { createEventLog, type EventStream, type WhenOptions } from "./event-stream";
import { createFaultScript, type FaultScript } from "./faults";
import type { DeregistrationCause, Emit, KubeletEvent } from "./kubelet-events";
import type { KubeletFault } from "./kubelet-faults";
import { type KubeletOptions, type ResolvedKubeletOptions, resolveKubeletOptions } from "./kubelet-options";
import { tellLastStep } from "./last-step";
import type { NodeObject } from "./node";
import { createNodeInfoManager, type NodeInfoManager } from "./node-info-manager";
import { createBystanderHandler, type PluginHandler } from "./plugin-handler";
import { startPluginManager } from "./plugin-manager";
import type { SimulatorContext } from "./simulator-context";
import { behaviourOf, type KubeletBehaviour, type PluginType } from "./versions";

/** One kind of event of a simulated kubelet. */
export type KubeletEventOf<Kind extends KubeletEvent["kind"]> = Extract<
  KubeletEvent,
  { readonly kind: Kind }
>;

/** Limits a wait; no wait has a timeout of its own. */
export type WaitOptions = Pick<WhenOptions<KubeletEvent>, "signal">;

/** A kubelet's plugin registration, without the rest of kubelet. */
export interface SimulatedKubelet extends AsyncDisposable {
  /** The directory that it watches, absolute. */
  readonly pluginDir: string;
  /** Every step it takes. */
  readonly events: EventStream<KubeletEvent>;
  /**
   * Resolves when the driver is registered, at once if it already is. Rejects with ABORTED when the signal is aborted or
   * kubelet is closed, and says how far kubelet came.
   */
  registered(driverName: string, options?: WaitOptions): Promise<KubeletEventOf<"registered">>;
  /** Resolves when the driver is not registered, at once if it is not. A restart deregisters nothing. */
  deregistered(driverName: string, options?: WaitOptions): Promise<void>;
  /** Resolves with the driver's refusal: the latest, if no success followed it, else the next. */
  refused(driverName: string, options?: WaitOptions): Promise<KubeletEventOf<"refused">>;
  /** The Node as it is now. */
  node(): NodeObject;
  /** The CSINode as it is now. */
  csiNode(): CsiNodeObject;
  /** Replaces the active faults. */
  setFaults(faults: readonly KubeletFault[]): void;
  /**
   * Ends this kubelet as a kill would and starts it again: it forgets its list of drivers and its backoffs, but not the
   * Node and CSINode. `whileDown` runs in between.
   */
  restart(options?: { readonly whileDown?: () => void | Promise<void> }): Promise<void>;
  /** Ends it; drivers stay in the Node and CSINode, as when a kubelet stops. Always the same promise. */
  close(): Promise<void>;
}

/** A kubelet process: what a restart replaces. */
interface KubeletProcess {
  stop(because: "restart" | "close"): Promise<void>;
}

/**
 * Starts a simulated kubelet: plugin watcher, reconciler and CSI registration handler, which a plugin cannot tell from
 * kubelet's, over the real sockets in `pluginDir`. It mounts nothing, talks to no API server, and keeps the Node and
 * CSINode in memory. It writes no log; `events` has everything. `close()` and `signal` end it.
 *
 * Rejects with INVALID_OPTION for options that cannot work, with ABORTED if the signal was aborted before.
 */
export async function startKubelet(
  options: KubeletOptions,
  { signal }: SimulatorContext = {},
): Promise<SimulatedKubelet> {
  const resolved = resolveKubeletOptions(options);
  if (signal?.aborted)
    throw new RegistrarError("ABORTED", "the simulated kubelet was stopped before it started");

  const log = createEventLog<KubeletEvent>("the simulated kubelet");
  const registered = new Map<string, KubeletEventOf<"registered">>();
  const refused = new Map<string, KubeletEventOf<"refused">>();
  log.stream.subscribe((event) => {
    if (event.kind === "registered") {
      registered.set(event.driverName, event);
      refused.delete(event.driverName);
    } else if (event.kind === "refused") refused.set(event.driverName, event);
    else if (event.kind === "deregistered") registered.delete(event.driverName);
    else if (event.kind === "stopped") registered.clear();
  });

  const behaviour = behaviourOf(resolved.version);
  const nodeInfo = createNodeInfoManager({ ...resolved, behaviour, emit: log.append });
  const faults = createFaultScript(resolved.faults);
  const surroundings = { behaviour, nodeInfo, faults, protos: loadProtos(), emit: log.append };
  const startProcess = () => startKubeletProcess(resolved, surroundings);

  let running: KubeletProcess | undefined = startProcess();
  /** Restarts and the end, one after the other. */
  let turn: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  const restart: SimulatedKubelet["restart"] = ({ whileDown } = {}) => {
    const restarted = turn.then(async () => {
      if (closing) throw new RegistrarError("ABORTED", "the simulated kubelet is closed and cannot restart");
      await running?.stop("restart");
      running = undefined;
      await whileDown?.();
      if (!closing) running = startProcess();
    });
    turn = restarted.catch(() => {});
    return restarted;
  };

  const close = () => {
    closing ??= turn.then(async () => {
      signal?.removeEventListener("abort", close);
      await running?.stop("close");
      log.end();
    });
    return closing;
  };
  signal?.addEventListener("abort", close, { once: true });

  const sameDriver = (driverName: string) => (event: { readonly driverName: string }) =>
    event.driverName === driverName;
  const next = (driverName: string, { signal }: WaitOptions = {}) =>
    ({ from: "now", where: sameDriver(driverName), signal }) as const;

  const inVain = (error: unknown): never => {
    const text = `${messageOf(error)}; ${tellLastStep(log.stream.history(), resolved.pluginDir)}`;
    throw new RegistrarError("ABORTED", text, { cause: error });
  };

  return {
    pluginDir: resolved.pluginDir,
    events: log.stream,
    registered: async (driverName, wait) =>
      registered.get(driverName) ?? log.stream.when("registered", next(driverName, wait)).catch(inVain),
    deregistered: async (driverName, wait) => {
      if (registered.has(driverName)) await log.stream.when("deregistered", next(driverName, wait));
    },
    refused: async (driverName, wait) =>
      refused.get(driverName) ?? log.stream.when("refused", next(driverName, wait)),
    node: nodeInfo.node,
    csiNode: nodeInfo.csiNode,
    setFaults: faults.set,
    restart,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What outlives a kubelet process. */
interface Surroundings {
  readonly behaviour: KubeletBehaviour;
  readonly nodeInfo: NodeInfoManager;
  readonly faults: FaultScript<KubeletFault>;
  readonly protos: Protos;
  readonly emit: Emit;
}

function startKubeletProcess(options: ResolvedKubeletOptions, surroundings: Surroundings): KubeletProcess {
  const { pluginDir, nodeName, version, timings } = options;
  const { behaviour, faults, emit } = surroundings;
  const killed = new AbortController();
  // Each running call listens to it, and there may be a call for each socket.
  setMaxListeners(0, killed.signal);
  const { signal } = killed;
  const call = createCaller({ emit, faults, signal });

  const handlerFor = (type: PluginType): PluginHandler => {
    if (type === "CSIPlugin") {
      const { nodeGetInfoMs } = timings;
      return createCsiRegistrationHandler({ ...surroundings, call, nodeGetInfoMs, signal });
    }
    return createBystanderHandler(type, (driverName: string, because: DeregistrationCause) =>
      emit({ kind: "deregistered", driverName, because }),
    );
  };
  const handlers = new Map(behaviour.pluginTypes.map((type) => [type as string, handlerFor(type)]));

  emit({ kind: "started", pluginDir, nodeName, version });
  const manager = startPluginManager({ ...options, ...surroundings, handlers, call, signal });
  return {
    stop: async (because) => {
      killed.abort();
      await manager.close();
      emit({ kind: "stopped", because });
    },
  };
}
