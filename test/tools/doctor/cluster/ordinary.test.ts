import {
  type ContainerChange,
  daemonSet,
  type Ended,
  failedMount,
  podStatus,
  registrarPod,
  volumeAttachment,
} from "../../../support/cluster-objects";
import { ago, expectSaid, type MemoryCluster, makeCluster, NOW_MS, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";

// In the middle of an ordinary event nothing is a problem until it lasts.

const PODS = "/api/v1/namespaces/storage/pods";
const SET = daemonSet(DISK);
const creating: ContainerChange = { kind: "waiting", reason: "ContainerCreating", message: "" };
const CREATING = podStatus({ registrar: creating, driver: creating });
const none = { inCsiNode: {} };

/** A pod of the first DaemonSet, which is the third object of a cluster, that was created a minute ago. */
async function addPod(
  cluster: MemoryCluster,
  status: object,
  metadata: object = {},
  set = SET,
  host = "node-1",
) {
  const [uid] = cluster
    .find({ path: "/apis/apps/v1/daemonsets" })
    .map((one) => (one as { metadata: { name: string; uid: string } }).metadata)
    .filter(({ name }) => name === set.metadata.name)
    .map((one) => one.uid);
  const pod = registrarPod({ ...set, metadata: { ...set.metadata, uid: uid ?? "" } }, host);
  const { name = `${set.metadata.name}-new` } = metadata as { name?: string };
  await cluster.create(PODS, {
    ...pod,
    metadata: { ...pod.metadata, name, creationTimestamp: ago(1), ...metadata },
  });
  await cluster.setStatus(`${PODS}/${name}`, status);
}

const needed = (cluster: MemoryCluster, host = "node-1") =>
  cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, host));

/** A cluster with the driver and the node-wide registrar, whose DaemonSet is rolled out. */
async function nodeWideRollout() {
  const cluster = await makeCluster();
  const all = daemonSet("all", { name: "csi-registrar", path: "/var/lib/kubelet/plugins/*/csi.sock" });
  await deploy(cluster, all, ["node-1"], () => WELL);
  await addPod(cluster, WELL, {}, all);
  return cluster;
}

async function joining() {
  const cluster = await makeCluster({ desired: 2 });
  await addNode(cluster, "node-2", {}, { metadata: { creationTimestamp: ago(1) } });
  await needed(cluster, "node-2");
  return cluster;
}

/** The Node was deleted and created again under its name a minute ago. */
async function recreated() {
  const cluster = await makeCluster({ podsOn: [] });
  const owner = { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "old" }] };
  cluster.edit((stored) =>
    stored.map((one) => {
      const more = one.path.endsWith("/csinodes") ? owner : { creationTimestamp: ago(1) };
      return { ...one, object: { ...one.object, metadata: { ...one.object.metadata, ...more } } };
    }),
  );
  return cluster;
}

const LASTS: Readonly<Record<string, readonly RegExp[]>> = {
  CSI202: [/^CSI202 problem: .*container registrar does not start: ContainerCreating/],
  CSI207: [/^CSI207 problem: disk/, /^CSI211 problem: disk/],
  "CSI207 twice": [/^CSI207 problem: disk/, /^CSI207 problem: DaemonSet/, /^CSI211 problem: disk/],
  CSI218: [
    /^CSI218 problem: CSINodes are owned by Nodes that were deleted .* -> restart kubelet on these nodes/,
  ],
};

test.each<readonly [what: string, make: () => Promise<MemoryCluster>, lasts: readonly RegExp[]]>([
  [
    "a roll-out with maxSurge: a second pod that starts",
    async () => {
      const cluster = await makeCluster();
      await addPod(cluster, CREATING);
      return cluster;
    },
    LASTS.CSI202 ?? [],
  ],
  [
    "a roll-out: the pod is being deleted, and a volume is attached",
    async () => {
      const cluster = await makeCluster({ ...none, podsOn: [] });
      await addPod(cluster, WELL, { deletionTimestamp: ago(-0.5) });
      await needed(cluster);
      return cluster;
    },
    LASTS.CSI207 ?? [],
  ],
  [
    "an evicted pod and its successor",
    async () => {
      const cluster = await makeCluster({ ...none, podsOn: [] });
      await addPod(
        cluster,
        { phase: "Failed", reason: "Evicted", conditions: [] },
        { name: "disk-node-evicted" },
      );
      await addPod(cluster, CREATING);
      await needed(cluster);
      return cluster;
    },
    [/^CSI202 problem/, /^CSI211 problem/],
  ],
  ...["Failed", "Succeeded"].map((phase) => {
    const beside = async () => {
      const cluster = await makeCluster();
      await addPod(cluster, { phase, conditions: [] }, { creationTimestamp: ago(60) });
      return cluster;
    };
    return [`a pod that is ${phase}, beside its successor that runs`, beside, []] as const;
  }),
  [
    "a DaemonSet that was applied a minute ago, and its pods are not created yet",
    async () => {
      const cluster = await makeCluster({ ...none, podsOn: [] });
      cluster.edit((stored) =>
        stored.map((one) => {
          const more = one.path.endsWith("/daemonsets") ? { creationTimestamp: ago(1) } : {};
          return { ...one, object: { ...one.object, metadata: { ...one.object.metadata, ...more } } };
        }),
      );
      await needed(cluster);
      return cluster;
    },
    LASTS.CSI207 ?? [],
  ],
  ["a node that joins", joining, LASTS["CSI207 twice"] ?? []],
  ["a Node that was created again", recreated, LASTS.CSI218 ?? []],
])("%s", async (_what, make, lasts) => {
  const cluster = await make();
  await expectSaid(cluster);
  cluster.setNow(NOW_MS + 20 * 60_000);
  await expectSaid(cluster, ...lasts);
});

const END = { at: ago(5), exitCode: 255 };
const back = (last: Ended): ContainerChange => ({ kind: "running", at: ago(4), restarts: 3, last });
const both = (container: ContainerChange) => ({ registrar: container, driver: container });

test.each<readonly [what: string, said: readonly RegExp[], Readonly<Record<string, ContainerChange>>]>([
  ["exit code 255 of all, as in a reboot", [], both(back(END))],
  ["an unknown end of all, as in a reboot", [], both(back({ ...END, exitCode: 137, reason: "Unknown" }))],
  ["exit code 255 at two times", [/^CSI203/], { registrar: back(END), driver: back({ ...END, at: ago(9) }) }],
  ["exit code 1 of all", [/^CSI203 problem: .*has restarted 3 times/], both(back({ ...END, exitCode: 1 }))],
  ["exit code 255 of the only one", [/^CSI201 /], { registrar: back(END) }],
  [
    "exit code 255 of all, again and again",
    [/^CSI203/],
    both({ kind: "crash-loop", restarts: 3, last: END }),
  ],
])("containers that were restarted after %s", async (_what, said, containers) => {
  await expectSaid(await makeCluster({ status: podStatus(containers) }), ...said);
});

test("a roll-out of the node-wide registrar with maxSurge has no duplicate", async () => {
  const said = (await (await nodeWideRollout()).report()).findings.map(({ code }) => code);
  expect(said).toContain("CSI204");
  expect(said).not.toContain("CSI206");
});

test("a pod that waits for a directory that is not there: kubelet's root is elsewhere", async () => {
  const cluster = await makeCluster({ ...none, status: CREATING });
  const [pod] = cluster.find({ path: PODS }) as Parameters<typeof failedMount>[0][];
  const message =
    'MountVolume.SetUp failed for volume "registration" : hostPath type check failed: /var/lib/kubelet/plugins_registry is not a directory';
  if (pod)
    await cluster.create(`${PODS.replace("pods", "events")}`, {
      ...failedMount(pod, DISK, "node-1"),
      message,
    });
  await expectSaid(
    cluster,
    /^CSI202 problem: .*ContainerCreating: MountVolume.SetUp failed .*plugins_registry is not a directory -> kubelet has another root directory on that node: /,
  );
});
