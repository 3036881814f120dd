import { startReadyProcess } from "../../support/child-process";
import { programPath } from "./build";

export interface CsiNodeDriver {
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys: readonly string[] | null;
  readonly allocatable?: { readonly count: number };
}

export interface KubeNode {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** What the API server holds of this node. Kubelet makes the CSINode. */
export interface ApiObjects {
  readonly node: KubeNode;
  readonly csiNode: (KubeNode & { readonly spec: { readonly drivers: readonly CsiNodeDriver[] } }) | null;
}

/** How kubelet's CSI registration handler answered its plugin manager. */
export interface HandlerEvent {
  readonly event: "validate" | "register";
  readonly plugin: string;
  readonly endpoint: string;
  readonly versions: readonly string[];
  readonly error: string | null;
}

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
  | { command: "unmount"; volume: string }
  | { command: "replaceNode" | "collect" };

export interface KubeletOptions {
  /** A release among program/versions. */
  readonly version: string;
  readonly pluginDir: string;
  /** What an earlier kubelet left on the API server. @default a new Node and no CSINode */
  readonly objects?: ApiObjects;
  /** How many processors it uses; with one, its log has the order of what it did. @default all */
  readonly processors?: number;
}

export interface Kubelet extends Awaited<ReturnType<typeof startOne>> {
  /** Kills this kubelet and starts it anew with the API objects that it leaves behind. */
  restart(): Promise<Kubelet>;
}

/** The driver's node ID for each driver, as kubelet keeps them in the Node's annotation. */
export function nodeIds(node: KubeNode): Readonly<Record<string, string>> {
  return JSON.parse(node.metadata.annotations?.["csi.volume.kubernetes.io/nodeid"] ?? "{}");
}

/** Starts kubelet's plugin manager and CSI registration handler of one release; resolves when events flow. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const kubelet = await startOne(options);
  const restart = async () => {
    await kubelet.kill();
    return startKubelet({ ...options, objects: kubelet.objects() });
  };
  return { ...kubelet, restart };
}

async function startOne({ version, pluginDir, objects: left, processors = 0 }: KubeletOptions) {
  const child = await startReadyProcess<KubeletEvent>(programPath("kubelet", version), [
    `--plugin-dir=${pluginDir}`,
    "--node=node-1",
    `--objects=${JSON.stringify(left ?? {})}`,
    `--processors=${processors}`,
    "-v=4",
  ]);
  const { stdout: events, stderr: log, close } = child;

  const objects = () =>
    events.all().findLast((event) => event.event === "objects" || event.event === "started") as ApiObjects;
  const entry = (driver: string) => objects().csiNode?.spec.drivers.find(({ name }) => name === driver);

  async function obeyed(command: KubeletCommand): Promise<string | undefined> {
    const sentAfter = events.all().length;
    child.writeLine(JSON.stringify(command));
    const done = await events.waitFor(({ event }) => event === "done", sentAfter);
    if (done.event !== "done") return undefined;
    if (done.error) throw new Error(`${command.command}: ${done.error}`);
    return done.path;
  }
  const command = async (command: KubeletCommand) => void (await obeyed(command));

  return {
    events,
    log,
    objects,
    /** The driver's entry in CSINode, once it is there and the Node's annotation has the driver's node ID too. */
    registered: async (driver: string): Promise<CsiNodeDriver> => {
      await events.waitFor(() => entry(driver) !== undefined && driver in nodeIds(objects().node));
      return entry(driver) as CsiNodeDriver;
    },
    /** Resolves once neither CSINode nor the Node's annotation knows the driver. */
    deregistered: async (driver: string): Promise<void> => {
      await events.waitFor(() => entry(driver) === undefined && !(driver in nodeIds(objects().node)));
    },
    /** How the first validation or registration of the driver ended, from the event at position `from` on. */
    answered: async (stage: HandlerEvent["event"], driver: string, from?: number): Promise<HandlerEvent> => {
      const isAnswer = (event: KubeletEvent) => event.event === stage && event.plugin === driver;
      return (await events.waitFor(isAnswer, from)) as HandlerEvent;
    },
    /** The position behind all that it has reported until now, also if another process was heard first. */
    eventsSoFar: async (): Promise<number> => {
      await command({ command: "refuse", text: "", times: 0 }); // Nothing but an answer behind all others.
      return events.all().length;
    },
    /**
     * Mounts an inline volume of a pod, by kubelet's CSI plugin: NodePublishVolume. Answers with its path; rejects with
     * what kubelet would write into the pod's events.
     */
    mount: async (driver: string, volume: string, attributes: Readonly<Record<string, string>>) =>
      (await obeyed({ command: "mount", driver, volume, attributes })) ?? "",
    unmount: (volume: string) => command({ command: "unmount", volume }),
    command,
    kill: child.kill,
    close,
    [Symbol.asyncDispose]: close,
  };
}
