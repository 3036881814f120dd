import { parseAllDocuments } from "yaml";
import { daemonSet } from "../../../support/cluster-objects";
import { runCommand } from "../../../support/run-command";
import { makeCluster, WELL } from "./memory-cluster";
import { DISK, deploy } from "./sick-cluster";

export const OFFICIAL = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
export const OURS = "example.com/sidecar:v1";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const LISTS: Readonly<Record<string, string>> = {
  MutatingAdmissionPolicy: `${ADMISSION}/mutatingadmissionpolicies`,
  MutatingAdmissionPolicyBinding: `${ADMISSION}/mutatingadmissionpolicybindings`,
};
const PATTERN = "/var/lib/kubelet/plugins/*/csi.sock";

type Container = Readonly<Record<string, unknown>>;
type Daemon = ReturnType<typeof daemonSet>;

export interface World {
  /** Of `registrar manifest --image-policy`; undefined: no policy. */
  readonly flags?: readonly string[];
  /** How the policy's objects differ from what the command writes. */
  readonly policyObjects?: (objects: readonly Written[]) => readonly Written[];
  /** What admission made of the registrar in the pod; null: nothing is left. */
  readonly inPod?: Container | null;
  /** The same of pods on node-2 and so on, which have no Node. */
  readonly inOthers?: readonly (Container | null)[];
  readonly status?: object;
  readonly set?: Container;
  readonly setLabels?: Readonly<Record<string, string>>;
  readonly setAnnotations?: Readonly<Record<string, string>>;
  readonly generations?: readonly [set: string, pod: string];
  readonly hasNodeWide?: boolean;
  readonly architecture?: string;
}

interface Written {
  readonly kind: string;
  readonly metadata: Container;
}

async function policyOf(flags: readonly string[]): Promise<readonly Written[]> {
  const { stdout, stderr } = await runCommand("manifest", ...flags);
  expect(stderr).toBe("");
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Written);
  return objects.filter(({ kind }) => kind in LISTS);
}

function changed(set: Daemon, change: Container | null, labels = {}, annotations = {}): Daemon {
  const { metadata, spec } = set.spec.template;
  const containers = spec.containers.flatMap((one) => {
    if (one.name !== "registrar") return [one];
    return change === null ? [] : [{ ...one, ...change }];
  });
  const template = {
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels }, annotations },
    spec: { ...spec, containers },
  };
  return { ...set, spec: { ...set.spec, template } };
}

/** A node with one driver; its DaemonSet has the official registrar. */
export async function clusterOf({ flags, inPod = {}, inOthers = [], ...world }: World) {
  const { policyObjects = (all) => all, generations: [ofSet, ofPod] = ["2", "2"] } = world;
  const official = daemonSet(DISK, { image: OFFICIAL });
  const own = changed(official, world.set ?? {}, world.setLabels, world.setAnnotations);
  const annotations = { "deprecated.daemonset.template.generation": ofSet };
  const inPods = new Map([inPod, ...inOthers].map((change, n) => [`node-${n + 1}`, change]));
  const cluster = await makeCluster({
    ...(world.architecture && { architecture: world.architecture }),
    ...(world.status && { status: world.status }),
    podsOn: [...inPods.keys()],
    daemon: { ...own, metadata: { ...own.metadata, ...{ annotations } } },
    admit: (set, node) => changed(set, inPods.get(node) ?? null, { "pod-template-generation": ofPod }),
  });
  if (world.hasNodeWide) {
    const nodeWide = daemonSet("all", { name: "csi-registrar", path: PATTERN });
    await deploy(cluster, nodeWide, ["node-1"], () => WELL);
  }
  for (const object of policyObjects(flags === undefined ? [] : await policyOf(flags)))
    await cluster.create(LISTS[object.kind] ?? "", object);
  const labels = { "kubernetes.io/metadata.name": "storage" };
  await cluster.create("/api/v1/namespaces", { metadata: { name: "storage", labels } });
  return cluster;
}
