import type { Cluster } from "./cluster";
import {
  type Contestant,
  type DaemonSet,
  EXAMPLE,
  exampleObjects,
  NAMESPACE,
  type Plugin,
  type PodSpec,
  podWithVolume,
} from "./objects";
import { until } from "./until";

export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: PodSpec & { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly conditions?: readonly { readonly reason?: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface CSINode {
  readonly spec: { readonly drivers: readonly { readonly name: string }[] | null };
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state: { readonly running?: object };
  readonly lastState: {
    readonly terminated?: { containerID: string; exitCode: number; reason: string; message?: string };
  };
}

export type Change = (daemonSet: DaemonSet) => void;

export type Stage = ReturnType<typeof createStage>;

type ContainerName = "registrar" | "hostpath";

/** A stage with nothing on it yet. Disposing of it takes everything away that it made. */
export function createStage(cluster: Cluster, contestant: Contestant, plugin: Plugin = EXAMPLE) {
  const { driver, daemonSet: name } = plugin;
  const label = `app.kubernetes.io/name=${name}`;
  const { kubectl, record } = cluster;
  const made: string[] = [];
  const listPods = async () => {
    const list = await cluster.get<{ items: Pod[] }>(
      `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${encodeURIComponent(label)}`,
    );
    return list.items;
  };
  const status = async (container: ContainerName): Promise<ContainerStatus> => {
    const found = (await listPods())
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .at(-1)
      ?.status.containerStatuses?.find((one) => one.name === container);
    if (!found) throw new Error(`no pod of ${name} tells of its container ${container}`);
    return found;
  };
  return {
    cluster,
    contestant,
    plugin,
    pods: listPods,
    status,
    killContainer: async (container: ContainerName): Promise<void> => {
      const { containerID = "" } = await status(container);
      await cluster.node.killContainer(containerID);
    },
    /** Applies the DaemonSet, changed, with the stage's registrar or another. */
    apply: async (change?: Change, other = contestant): Promise<void> => {
      const [csiDriver, daemonSet] = exampleObjects(other, plugin);
      change?.(daemonSet);
      await cluster.apply([csiDriver, daemonSet]);
    },
    registered: (): Promise<void> =>
      until(
        async () => {
          if (!record.isListed(driver)) throw new Error("CSINode does not list the driver");
          for (const container of ["registrar", "hostpath"] as const)
            if (!(await status(container)).ready) throw new Error(`the container ${container} is not ready`);
        },
        `${driver} is registered`,
        90_000,
      ),
    mountsVolume: async (pod: string, limitMs = 90_000): Promise<void> => {
      made.push(pod);
      await cluster.apply([podWithVolume(pod, driver)]);
      await podRuns(cluster, pod, limitMs);
    },
    [Symbol.asyncDispose]: async () => {
      for (const pod of made)
        await kubectl("delete", "pod", pod, "--ignore-not-found", "--timeout=60s").catch(() =>
          kubectl("delete", "pod", pod, "--ignore-not-found", "--force"),
        );
      await kubectl("delete", "daemonset", name, `--namespace=${NAMESPACE}`, "--ignore-not-found");
      await kubectl("delete", "csidriver", driver, "--ignore-not-found");
      await until(async () => {
        const left = (await listPods()).length;
        if (left > 0) throw new Error(`${left} pods are left`);
        if (record.isListed(driver)) throw new Error("CSINode still lists the driver");
      }, "the stage is empty");
    },
  };
}

export const podNamed = ({ get }: Cluster, name: string) =>
  get<Pod>(`/api/v1/namespaces/default/pods/${name}`);

export const podRuns = (cluster: Cluster, name: string, limitMs?: number): Promise<void> =>
  until(
    async () => {
      const { phase } = (await podNamed(cluster, name)).status;
      if (phase !== "Running") throw new Error(`the pod is ${phase}`);
    },
    `the pod ${name} runs`,
    limitMs,
  );
