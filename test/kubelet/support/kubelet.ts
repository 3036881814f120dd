import { startReadyProcess } from "../../support/child-process";
import type { History } from "../../support/history";
import { programPath } from "./build";

export interface CsiNodeDriver {
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys: readonly string[] | null;
  readonly allocatable?: { readonly count: number };
}

/** The parts of a Kubernetes Node that CSI registration writes. */
export interface KubeNode {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface CsiNode extends KubeNode {
  readonly spec: { readonly drivers: readonly CsiNodeDriver[] };
}

/** What the API server holds of this node. Kubelet makes the CSINode. */
export interface ApiObjects {
  readonly node: KubeNode;
  readonly csiNode: CsiNode | null;
}

/** How kubelet's CSI registration handler answered its plugin manager. */
export interface HandlerEvent {
  readonly event: "validate" | "register";
  readonly plugin: string;
  readonly endpoint: string;
  readonly versions: readonly string[];
  readonly error: string | null;
}

/** The lines that program/kubelet prints. */
export type KubeletEvent =
  | ({ readonly event: "started" | "objects" } & ApiObjects)
  | HandlerEvent
  | { readonly event: "deregister"; readonly plugin: string }
  | { readonly event: "done"; readonly command: string; readonly error?: string; readonly path?: string };

/** `stage` is the handler's call that is meant, `register` unless told; see program/kubelet/commands.go. */
export type KubeletCommand =
  | { command: "refuse"; text: string; times?: number; stage?: "validate" | "register" }
  | { command: "hang"; seconds: number; stage?: "validate" | "register" }
  | { command: "accept" }
  | { command: "mount"; driver: string; volume: string; attributes: Readonly<Record<string, string>> }
  | { command: "unmount"; volume: string };

export interface KubeletOptions {
  /** A release among program/versions. */
  readonly version: string;
  /** The plugin registration directory. */
  readonly pluginDir: string;
  /** Name of the node. @default "node-1" */
  readonly node?: string;
  /** What an earlier kubelet left on the API server. @default a new Node and no CSINode */
  readonly objects?: ApiObjects;
  /** How many processors it uses; with one, its log has the order of what it did. @default all */
  readonly processors?: number;
}

export interface Kubelet extends AsyncDisposable {
  readonly events: History<KubeletEvent>;
  /** Kubelet's own log, by line. */
  readonly log: History<string>;
  /** The objects as they are now. */
  readonly objects: () => ApiObjects;
  /** The driver's entry in CSINode, once it is there and the Node's annotation has the driver's node ID too. */
  readonly registered: (driver: string) => Promise<CsiNodeDriver>;
  /** Resolves once neither CSINode nor the Node's annotation knows the driver. */
  readonly deregistered: (driver: string) => Promise<void>;
  /** How the first validation or registration of the driver ended, from the event at position `from` on. */
  readonly answered: (stage: HandlerEvent["event"], driver: string, from?: number) => Promise<HandlerEvent>;
  /** The position behind all that it has reported until now, also if another process was heard first. */
  readonly eventsSoFar: () => Promise<number>;
  /**
   * Mounts an inline volume of a pod, by kubelet's CSI plugin: NodePublishVolume. Answers with its path; rejects with
   * what kubelet would write into the pod's events.
   */
  readonly mount: (
    driver: string,
    volume: string,
    attributes: Readonly<Record<string, string>>,
  ) => Promise<string>;
  /** The end of the same: NodeUnpublishVolume. */
  readonly unmount: (volume: string) => Promise<void>;
  /** Resolves when the command is in force. */
  readonly command: (command: KubeletCommand) => Promise<void>;
  /** Ends this kubelet as a crash does. */
  readonly kill: () => Promise<void>;
  /** Kills this kubelet and starts it anew with the API objects that it leaves behind. */
  readonly restart: () => Promise<Kubelet>;
  readonly close: () => Promise<void>;
}

/** The driver's node ID for each driver, as kubelet keeps them in the Node's annotation. */
export function nodeIds(node: KubeNode): Readonly<Record<string, string>> {
  return JSON.parse(node.metadata.annotations?.["csi.volume.kubernetes.io/nodeid"] ?? "{}");
}

/** Starts kubelet's plugin manager and CSI registration handler of one release; resolves when events flow. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { version, pluginDir, node = "node-1" } = options;
  const child = await startReadyProcess<KubeletEvent>(programPath("kubelet", version), [
    `--plugin-dir=${pluginDir}`,
    `--node=${node}`,
    `--objects=${JSON.stringify(options.objects ?? {})}`,
    `--processors=${options.processors ?? 0}`,
    "-v=4",
  ]);
  const events = child.stdout;

  function objects(): ApiObjects {
    return events
      .all()
      .findLast((event) => event.event === "objects" || event.event === "started") as ApiObjects;
  }
  function entry(driver: string): CsiNodeDriver | undefined {
    return objects().csiNode?.spec.drivers.find(({ name }) => name === driver);
  }
  async function registered(driver: string): Promise<CsiNodeDriver> {
    await events.waitFor(() => entry(driver) !== undefined && driver in nodeIds(objects().node));
    return entry(driver) as CsiNodeDriver;
  }
  async function deregistered(driver: string): Promise<void> {
    await events.waitFor(() => entry(driver) === undefined && !(driver in nodeIds(objects().node)));
  }
  async function answered(
    stage: HandlerEvent["event"],
    driver: string,
    from?: number,
  ): Promise<HandlerEvent> {
    const isAnswer = (event: KubeletEvent) => event.event === stage && event.plugin === driver;
    return (await events.waitFor(isAnswer, from)) as HandlerEvent;
  }
  async function eventsSoFar(): Promise<number> {
    await command({ command: "refuse", text: "", times: 0 }); // Nothing but an answer behind all others.
    return events.all().length;
  }
  const command = async (command: KubeletCommand) => void (await obeyed(command));
  const mount: Kubelet["mount"] = async (driver, volume, attributes) =>
    (await obeyed({ command: "mount", driver, volume, attributes })) ?? "";
  async function obeyed(command: KubeletCommand): Promise<string | undefined> {
    const sentAfter = events.all().length;
    child.writeLine(JSON.stringify(command));
    const done = await events.waitFor(({ event }) => event === "done", sentAfter);
    if (done.event !== "done") return undefined;
    if (done.error) throw new Error(`${command.command}: ${done.error}`);
    return done.path;
  }
  async function kill(): Promise<void> {
    child.signal("SIGKILL");
    await child.exited;
  }
  async function restart(): Promise<Kubelet> {
    await kill();
    return startKubelet({ ...options, objects: objects() });
  }

  return {
    events,
    log: child.stderr,
    objects,
    registered,
    deregistered,
    answered,
    eventsSoFar,
    mount,
    unmount: (volume) => command({ command: "unmount", volume }),
    command,
    kill,
    restart,
    close: child.close,
    [Symbol.asyncDispose]: child.close,
  };
}
