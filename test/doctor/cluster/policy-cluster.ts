import { parseAllDocuments } from "yaml";
import { csiDriver, csiNode, daemonSet, node, nodeStatus, registrarPod } from "../../support/cluster-objects";
import { runCommand } from "../../support/run-command";
import { createMemoryCluster, WELL } from "./memory-cluster";
import { DISK, STORAGE } from "./sick-cluster";

export const OFFICIAL = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0";
export const OURS = "example.com/sidecar:v1";
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
/** Where the objects of an image policy go. */
const LISTS: Readonly<Record<string, string>> = {
  MutatingAdmissionPolicy: `${ADMISSION}/mutatingadmissionpolicies`,
  MutatingAdmissionPolicyBinding: `${ADMISSION}/mutatingadmissionpolicybindings`,
  MutatingPolicy: "/apis/policies.kyverno.io/v1/mutatingpolicies",
};
const PATTERN = "/var/lib/kubelet/plugins/*/csi.sock";

type Container = Readonly<Record<string, unknown>>;
type Daemon = ReturnType<typeof daemonSet>;

export interface World {
  /** Flags of `registrar manifest --image-policy`; undefined: no policy. */
  readonly flags?: readonly string[];
  /** How the policy's objects differ from what the command writes. */
  readonly policyObjects?: (objects: readonly Written[]) => readonly Written[];
  /** What admission made of the registrar in the pod; null: nothing is left. */
  readonly inPod?: Container | null;
  readonly set?: Container;
  readonly setLabels?: Readonly<Record<string, string>>;
  readonly setAnnotations?: Readonly<Record<string, string>>;
  readonly generations?: readonly [set: string, pod: string];
  readonly namespaceLabels?: Readonly<Record<string, string>>;
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

/** The registrar in a template, changed, or without it. */
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
export async function clusterOf({ flags, ...world }: World) {
  const cluster = createMemoryCluster();
  await cluster.create("/api/v1/nodes", node("node-1", { [DISK]: "i-1" }, world.architecture));
  await cluster.setStatus("/api/v1/nodes/node-1", nodeStatus(true));
  await cluster.create(`${STORAGE}/csinodes`, csiNode("node-1", { [DISK]: "i-1" }));
  await cluster.create(`${STORAGE}/csidrivers`, csiDriver(DISK));
  const { policyObjects = (all) => all, inPod = {}, generations: [ofSet, ofPod] = ["2", "2"] } = world;
  for (const object of policyObjects(flags === undefined ? [] : await policyOf(flags)))
    await cluster.create(LISTS[object.kind] ?? "", object);
  const labels = { "kubernetes.io/metadata.name": "storage", ...world.namespaceLabels };
  await cluster.create("/api/v1/namespaces", { metadata: { name: "storage", labels } });

  const make = async (set: Daemon, change: Container | null) => {
    const metadata = { ...set.metadata, annotations: { "deprecated.daemonset.template.generation": ofSet } };
    const path = "/apis/apps/v1/namespaces/storage/daemonsets";
    const stored = await cluster.create(path, { ...set, metadata });
    const pod = registrarPod(changed(stored, change), "node-1") as { metadata: object; spec: object };
    const podLabels = { ...set.spec.template.metadata.labels, "pod-template-generation": ofPod };
    const pods = "/api/v1/namespaces/storage/pods";
    const { metadata: made } = await cluster.create(pods, {
      ...pod,
      metadata: { ...pod.metadata, labels: podLabels },
    });
    await cluster.setStatus(`${pods}/${(made as { name?: string }).name}`, WELL);
  };
  const set = daemonSet(DISK, { image: OFFICIAL });
  await make(changed(set, world.set ?? {}, world.setLabels, world.setAnnotations), inPod);
  if (world.hasNodeWide) await make(daemonSet("all", { name: "csi-registrar", path: PATTERN }), {});
  return cluster;
}
