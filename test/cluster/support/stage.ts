import type { Cluster } from "./cluster";
import {
  type Contestant,
  DAEMON_SET,
  type DaemonSet,
  DRIVER,
  exampleObjects,
  LABEL,
  NAMESPACE,
  podWithVolume,
} from "./objects";
import { until } from "./patience";

/** A pod, as far as the suite reads it. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state: { readonly running?: object; readonly terminated?: { readonly exitCode: number; readonly message?: string } };
  readonly lastState: { readonly terminated?: { readonly exitCode: number; readonly message?: string } };
}

/** A node plugin on the cluster's node, and what one can do to it. */
export interface Stage extends AsyncDisposable {
  readonly cluster: Cluster;
  /** The pods of the node plugin, oldest first. */
  pods(): Promise<readonly Pod[]>;
  /** A container of the newest pod. */
  status(container: "registrar" | "hostpath"): Promise<ContainerStatus>;
  /** Ends a container's first process on the node. */
  killContainer(container: "registrar" | "hostpath"): Promise<void>;
  /** Applies the DaemonSet, changed. */
  apply(change?: (daemonSet: DaemonSet) => void): Promise<void>;
  /** Resolves when CSINode lists the driver and the containers run. */
  registered(limitMs?: number): Promise<void>;
  /** Makes a pod with a volume of the driver; resolves when it runs, rejects when it does not within the limit. */
  mountsVolume(name: string, limitMs?: number): Promise<void>;
}

/** A stage with nothing on it yet. Disposing of it takes everything away that it made. */
export function createStage(cluster: Cluster, contestant: Contestant): Stage {
  const { kubectl, kubectlWith, record } = cluster;
  const made: string[] = [];
  const listPods = async () => {
    const list = await cluster.get<{ items: Pod[] }>(
      `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${encodeURIComponent(LABEL)}`,
    );
    return list.items;
  };
  const status: Stage["status"] = async (container) => {
    const found = (await listPods())
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .at(-1)
      ?.status.containerStatuses?.find(({ name }) => name === container);
    if (!found) throw new Error(`no pod of ${DAEMON_SET} tells of its container ${container}`);
    return found;
  };
  return {
    cluster,
    pods: listPods,
    status,
    killContainer: async (container) => {
      const { node } = insideOf(cluster);
      const { containerID = "" } = await status(container);
      const id = containerID.replace("containerd://", "");
      await node.run("ctr", "--namespace=k8s.io", "tasks", "kill", "--signal=SIGKILL", id);
    },
    apply: async (change) => {
      const [csiDriver, daemonSet] = exampleObjects(contestant);
      change?.(daemonSet);
      await kubectlWith([csiDriver, daemonSet], "apply", "--server-side", "--force-conflicts", "--validate=strict");
    },
    registered: (limitMs = 90_000) =>
      until(
        async () => {
          if (!record.isListed(DRIVER)) throw new Error("CSINode does not list the driver");
          for (const name of ["registrar", "hostpath"] as const)
            if (!(await status(name)).ready) throw new Error(`the container ${name} is not ready`);
        },
        { what: `${DRIVER} is registered`, limitMs },
      ),
    mountsVolume: async (name, limitMs = 90_000) => {
      made.push(name);
      await kubectlWith([podWithVolume(name)], "apply");
      await until(
        async () => {
          const { status: is } = await cluster.get<Pod>(`/api/v1/namespaces/default/pods/${name}`);
          if (is.phase !== "Running") throw new Error(`the pod is ${is.phase}`);
        },
        { what: `a pod with a volume of ${DRIVER} runs`, limitMs },
      );
    },
    [Symbol.asyncDispose]: async () => {
      for (const name of made)
        await kubectl("delete", "pod", name, "--ignore-not-found", "--wait=true", "--timeout=60s").catch(() =>
          kubectl("delete", "pod", name, "--ignore-not-found", "--force"),
        );
      await kubectl("delete", "daemonset", DAEMON_SET, `--namespace=${NAMESPACE}`, "--ignore-not-found");
      await kubectl("delete", "csidriver", DRIVER, "--ignore-not-found");
      await until(
        async () => {
          const left = (await listPods()).length;
          if (left > 0) throw new Error(`${left} pods are left`);
          if (record.isListed(DRIVER)) throw new Error("CSINode still lists the driver");
        },
        { what: "the stage is empty", limitMs: 90_000 },
      );
    },
  };
}

/** What only a cluster of our own has; throws in any other. */
export function insideOf({ inside }: Cluster): NonNullable<Cluster["inside"]> {
  if (!inside) throw new Error("this needs the node's inside, which only a cluster of the suite's own lets one touch");
  return inside;
}
