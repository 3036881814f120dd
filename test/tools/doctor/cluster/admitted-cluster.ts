import { daemonSet } from "../../../support/cluster-objects";
import { makeCluster, WELL } from "./memory-cluster";
import { DISK, deploy } from "./sick-cluster";

export const OFFICIAL = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
export const OURS = "example.com/registrar:v1";

type Container = Readonly<Record<string, unknown>>;
type Daemon = ReturnType<typeof daemonSet>;

interface World {
  /** What admission made of the registrar in the pod; null: nothing is left. */
  readonly inPod?: Container | null;
  /** The same of pods on node-2 and so on, which have no Node. */
  readonly inOthers?: readonly (Container | null)[];
  readonly set?: Container;
  readonly generations?: readonly [set?: string, pod?: string];
  readonly hasNodeWide?: boolean;
}

function changed(set: Daemon, change: Container | null, labels = {}): Daemon {
  const { metadata, spec } = set.spec.template;
  const containers = spec.containers.flatMap((one) => {
    if (one.name !== "registrar") return [one];
    return change === null ? [] : [{ ...one, ...change }];
  });
  const template = {
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
    spec: { ...spec, containers },
  };
  return { ...set, spec: { ...set.spec, template } };
}

/** A node with one driver; its DaemonSet has the official registrar, its pods what admission made of that. */
export async function clusterOf({ inPod = {}, inOthers = [], ...world }: World) {
  const { generations: [ofSet, ofPod] = ["2", "2"] } = world;
  const own = changed(daemonSet(DISK, { image: OFFICIAL }), world.set ?? {});
  const annotations = { "deprecated.daemonset.template.generation": ofSet };
  const inPods = new Map([inPod, ...inOthers].map((change, n) => [`node-${n + 1}`, change]));
  const cluster = await makeCluster({
    podsOn: [...inPods.keys()],
    daemon: { ...own, metadata: { ...own.metadata, ...{ annotations } } },
    admit: (set, node) => changed(set, inPods.get(node) ?? null, { "pod-template-generation": ofPod }),
  });
  const path = "/var/lib/kubelet/plugins/*/csi.sock";
  if (world.hasNodeWide)
    await deploy(cluster, daemonSet("all", { name: "csi-registrar", path }), ["node-1"], () => WELL);
  return cluster;
}
