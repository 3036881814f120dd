import {
  csiDriver,
  daemonSet,
  onHostPath,
  podStatus,
  registrarPod,
  volumeAttachment,
} from "../../../support/cluster-objects";
import { ago, type MemoryCluster, running, WELL } from "./memory-cluster";
import { makePair, NODES } from "./pair-cluster";
import { deploy, FILES, STORAGE } from "./sick-cluster";

const PODS = "/api/v1/namespaces/storage/pods";
const OTHER = "other.csi.example.org";

/** Whether the DaemonSet without a name is known to have the driver FILES. */
async function isNamed(cluster: MemoryCluster): Promise<boolean> {
  const { registrars } = await cluster.report();
  const names = registrars
    .filter(({ daemonSet }) => daemonSet === "storage/files-node")
    .map(({ driver, guessed }) => [driver, guessed]);
  expect([[[FILES, false]], [["csi-nfsplugin", true]]]).toContainEqual(names);
  return names[0]?.[1] === false;
}

test("a healthy cluster with a driver whose name nothing has is healthy, with one row for it", async () => {
  const { healthy, drivers, nodes, summary, findings } = await (await makePair()).report();
  const row = {
    ...{ name: FILES, daemonSets: ["storage/files-node"], nodes: 3, registered: 3 },
    ...{ csiDriver: true, guessed: false },
  };
  expect([healthy, summary.unknown, findings.filter(({ status }) => status !== "ok")]).toEqual([true, 0, []]);
  expect(drivers).toHaveLength(2);
  expect(drivers).toContainEqual(row);
  expect(new Set(nodes.map(({ state }) => state))).toEqual(new Set(["registered"]));
});

test.each(NODES)("%s alone is healthy, too", async (node) => {
  const { healthy, drivers } = await (await makePair()).report({ node });
  expect([healthy, drivers.map(({ guessed }) => guessed)]).toEqual([true, [false, false]]);
});

const starting = podStatus({ registrar: { kind: "running", at: ago(0.5) }, driver: running });
const crashing = podStatus({
  registrar: running,
  driver: { kind: "crash-loop", restarts: 9, last: { at: ago(1), exitCode: 1 } },
});
const UNSCHEDULED = { conditions: [{ type: "PodScheduled", status: "False", message: "no room" }] };
const recent = { kind: "running", at: ago(1.5) } as const;
const onThird = (status: object) => (node: string) => (node === "node-3" ? status : WELL);

/** A pod that may register drivers, on all nodes: of a controller that is no DaemonSet. */
const addRivals = async (cluster: MemoryCluster, change: (pod: object) => object) => {
  for (const node of NODES) {
    const pod = registrarPod(daemonSet(OTHER, { name: "static" }), node);
    await cluster.create(PODS, { ...change({ ...pod, metadata: { ...pod.metadata, ownerReferences: [] } }) });
  }
};
const withVolume = (path: string) => (pod: object) => ({
  ...pod,
  spec: {
    nodeName: (pod as ReturnType<typeof registrarPod>).spec.nodeName,
    ...onHostPath(path),
  },
});

type Change = (cluster: MemoryCluster) => Promise<unknown>;
interface Case extends NonNullable<Parameters<typeof makePair>[0]> {
  readonly isSo: boolean;
  readonly change?: Change;
}

const removeOne: Change = async (cluster) =>
  cluster.setView((_path, object) => {
    const { metadata, spec, ...rest } = object as ReturnType<typeof registrarPod>;
    const annotations = { "deprecated.daemonset.template.generation": "1" };
    if (metadata.name === "files-node") return { ...rest, spec, metadata: { ...metadata, annotations } };
    if (metadata.name !== "files-node-node-3") return object;
    const labels = { ...metadata.labels, "pod-template-generation": "1" };
    const containers = spec.containers.filter(({ name }) => name !== "registrar");
    return { ...rest, metadata: { ...metadata, labels }, spec: { ...spec, containers } };
  });
const addSet =
  (changes: Parameters<typeof daemonSet>[1]): Change =>
  (cluster) =>
    deploy(cluster, daemonSet(OTHER, changes), NODES, () => WELL);

test.each(
  Object.entries<Case>({
    "nothing else is there": { isSo: true },
    "a pod has just started, and is not listed": {
      ...{ isSo: true, listed: { "node-3": [] }, statusOn: onThird(starting) },
    },
    "a pod crashes, and is not listed": {
      ...{ isSo: true, listed: { "node-3": [] }, statusOn: onThird(crashing) },
    },
    "a CSIDriver of a driver that is nowhere": {
      isSo: true,
      change: (cluster) => cluster.create(`${STORAGE}/csidrivers`, csiDriver(OTHER)),
    },
    "another pod has the files of the node": {
      isSo: true,
      change: (cluster) => addRivals(cluster, withVolume("/")),
    },
    "a pod that had a registrar has ended": {
      isSo: true,
      change: (cluster) => addRivals(cluster, (pod) => ({ ...pod, status: { phase: "Succeeded" } })),
    },
    "a pod works, and is not listed": { isSo: false, listed: { "node-3": [] } },
    "a pod that is only meant for a node would explain why that lists the driver": {
      ...{ isSo: false, statusOn: onThird(UNSCHEDULED) },
      change: ({ setSpec }) => setSpec(`${PODS}/files-node-node-3`, { nodeName: undefined }),
    },
    "a node without its pod has the driver": { isSo: false, podsOn: ["node-1", "node-2"] },
    "none of its pods works": { isSo: false, statusOn: () => crashing },
    "all have just started": { isSo: false, statusOn: () => starting },
    "all were made so recently that their trouble is not judged yet": {
      ...{ isSo: false, statusOn: () => podStatus({ registrar: recent, driver: recent }) },
      change: async ({ edit }) =>
        edit((stored) =>
          stored.map((one) => {
            const { metadata } = one.object;
            return one.path.endsWith("/pods")
              ? { ...one, object: { ...one.object, metadata: { ...metadata, creationTimestamp: ago(1.6) } } }
              : one;
          }),
        ),
    },
    "another driver is listed": { isSo: false, listed: { "node-2": [FILES, OTHER] } },
    "another driver is needed": {
      isSo: false,
      change: (cluster) =>
        cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("x", OTHER, "node-1")),
    },
    "another DaemonSet has no name": { isSo: false, change: addSet({ folder: "plugin" }) },
    "a node-wide registrar is there": {
      isSo: false,
      change: addSet({ path: "/var/lib/kubelet/plugins/*/csi.sock" }),
    },
    "admission removed a registrar": { isSo: false, change: removeOne },
    "another pod has a registrar": { isSo: false, change: (cluster) => addRivals(cluster, (pod) => pod) },
    "another pod may register itself": {
      isSo: false,
      change: (cluster) => addRivals(cluster, withVolume("/var/lib/kubelet/plugins_registry/")),
    },
    "another pod has kubelet's root": {
      isSo: false,
      change: (cluster) => addRivals(cluster, withVolume("/var/lib/kubelet")),
    },
  }),
)("a driver is named by elimination, or stays a guess: %s", async (_what, { isSo, change, ...world }) => {
  const cluster = await makePair(world);
  await change?.(cluster);
  expect(await isNamed(cluster)).toBe(isSo);
});

test.each(["csinodes", "csidrivers", "daemonsets", "pods", "volumeattachments"])(
  "a driver's name stays a guess where the list of %s could not be read to its end",
  async (list) => {
    const cluster = await makePair();
    await cluster.report();
    const ofList = [...cluster.reads].filter(([read]) => read.includes(`/${list} `));
    expect(ofList).not.toEqual([]);
    for (const [read, pages] of ofList) {
      cluster.setFault({ read, page: pages - 1, what: { kind: "forbidden", message: "no" } });
      expect([read, await isNamed(cluster)]).toEqual([read, false]);
    }
  },
);
