import {
  type ContainerChange,
  daemonSet,
  type Ended,
  failedMount,
  podStatus,
  registrarPod,
  volumeAttachment,
} from "../../../support/cluster-objects";
import { ago, expectSaid, type MemoryCluster, makeCluster, NOW_MS, running, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";

// In the middle of an ordinary event nothing is a problem until it lasts.

const PODS = "/api/v1/namespaces/storage/pods";
const SET = daemonSet(DISK);
const SETS = "/apis/apps/v1/namespaces/storage/daemonsets/disk-node";
const COUNTED = { currentNumberScheduled: 2, desiredNumberScheduled: 2 };
const creating: ContainerChange = { kind: "waiting", reason: "ContainerCreating", message: "" };
const CREATING = podStatus({ registrar: creating, driver: creating });

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

type Act = (cluster: MemoryCluster) => unknown;
const pod =
  (status: object, metadata?: object, set = SET): Act =>
  (cluster) =>
    addPod(cluster, status, metadata, set);
const needed =
  (host = "node-1"): Act =>
  (cluster) =>
    cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, host));
/** Changes the metadata of all objects of some kinds. */
const having =
  (kinds: RegExp, metadata: object): Act =>
  ({ edit }) =>
    edit((stored) =>
      stored.map((one) =>
        kinds.test(one.path)
          ? { ...one, object: { ...one.object, metadata: { ...one.object.metadata, ...metadata } } }
          : one,
      ),
    );
const world =
  (changes: Parameters<typeof makeCluster>[0], ...acts: readonly Act[]) =>
  async () => {
    const cluster = await makeCluster(changes);
    for (const act of acts) await act(cluster);
    return cluster;
  };

const tainted: Act = ({ setSpec }) =>
  setSpec("/api/v1/nodes/node-1", { taints: [{ key: `${DISK}/agent-not-ready`, effect: "NoSchedule" }] });
const CSI213 = /^CSI213 problem: .*its startup taint .* is still there/;

const RUNS = podStatus({
  registrar: { kind: "running", at: ago(1) },
  driver: { kind: "running", at: ago(1) },
});
const isReady = { type: "Ready", status: "False", lastTransitionTime: ago(1) };
const unready = (container: ContainerChange) => {
  const status = podStatus({ registrar: container, driver: container });
  const containerStatuses = status.containerStatuses.map((one) => ({ ...one, ready: one.name !== "driver" }));
  return { ...status, conditions: [isReady], containerStatuses };
};
const INIT = { restartCount: 0, ready: false, state: { running: { startedAt: ago(1) } } };
const initial = { reason: "PodInitializing", message: "" };
const initializing = (inits: Readonly<Record<string, object>>) => ({
  ...podStatus({ registrar: { kind: "waiting", ...initial }, driver: { kind: "waiting", ...initial } }),
  conditions: [isReady],
  initContainerStatuses: Object.entries(inits).map(([name, status]) => ({ name, ...status })),
});
function withInits(...initContainers: readonly object[]) {
  const set = daemonSet(DISK);
  return {
    ...set,
    spec: {
      ...set.spec,
      template: { ...set.spec.template, spec: { ...set.spec.template.spec, initContainers } },
    },
  };
}

const alone = { inCsiNode: {}, podsOn: [] };
const young = { creationTimestamp: ago(1) };
const ended = (phase: string) => ({ phase, conditions: [] });
const ALL = daemonSet("all", { name: "csi-registrar", path: "/var/lib/kubelet/plugins/*/csi.sock" });
const nodeTwo: Act = (cluster) => addNode(cluster, "node-2", {}, { metadata: young });
const deletedOwner = { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "old" }] };

const CSI202 = /^CSI202 problem: .*container registrar does not start: ContainerCreating/;
const [CSI207, CSI211] = [/^CSI207 problem: disk/, /^CSI211 problem: disk/];
const CSI218 =
  /^CSI218 problem: CSINodes are owned by Nodes that were deleted .* -> restart kubelet on these/;

test.each<readonly [what: string, make: () => Promise<MemoryCluster>, lasts: readonly RegExp[]]>([
  ["a roll-out with maxSurge: a second pod that starts", world({}, pod(CREATING)), [CSI202]],
  [
    "a roll-out: the pod is being deleted, and a volume is attached",
    world(alone, pod(WELL, { deletionTimestamp: ago(-0.5) }), needed()),
    [/^CSI202 .*its pod was deleted, should have ended/, CSI211],
  ],
  [
    "a roll-out: a pod is gone, and its successor is not there yet",
    world({}, having(/\/pods$/, young), ({ setStatus }) => setStatus(SETS, COUNTED)),
    [/^CSI212 unknown: pods are not all known: their list has 1 of the 2/],
  ],
  [
    "an evicted pod and its successor",
    world(alone, pod(ended("Failed"), { name: "disk-node-evicted" }), pod(CREATING), needed()),
    [CSI202, CSI211],
  ],
  [
    "a pod that is being deleted",
    world(alone, pod(WELL, { deletionTimestamp: ago(1) })),
    [
      /^CSI202 problem: .* has no working pod there: its pod was deleted, should have ended by 2026.* and is still there: until it ends, the node gets no other -> see which.*describe pod/,
    ],
  ],
  [
    "a pod that was evicted",
    world(alone, pod({ ...ended("Failed"), reason: "Evicted", message: "low on memory. " })),
    [
      /^CSI202 problem: .*its pod failed, and none has taken its place: Evicted: low on memory\. -> see what the n/,
    ],
  ],
  [
    "a pod that was created long ago, and was evicted a minute ago",
    world(alone, pod({ ...ended("Failed"), conditions: [isReady] }, { creationTimestamp: ago(60) })),
    [/^CSI202 problem: .*its pod failed/],
  ],
  [
    "a second pod of the DaemonSet",
    world({}, pod(RUNS)),
    [/^CSI206 .*disk-node-new and .* all but one; see: kubectl -n storage get pods disk-node-new disk-\S+$/],
  ],
  [
    "a second pod of the DaemonSet that is not Ready",
    world({}, pod({ ...RUNS, conditions: [isReady] })),
    [/^CSI206 .*disk-node-new and .* delete the one that is not Ready: .* delete pod disk-node-new$/],
  ],
  [
    "a registrar that has just started, before it removes the startup taint",
    world({ status: RUNS }, tainted),
    [CSI213],
  ],
  [
    "a Node that was created again, with its startup taint",
    world({}, tainted, having(/(?<!csi)nodes$/, young)),
    [CSI213],
  ],
  [
    "a node that joins, and is not Ready yet",
    world({ isReady: false }, needed(), having(/(?<!csi)nodes$/, young)),
    [/^CSI211 unknown: nodes are not ready or gone/],
  ],
  [
    "a pod that is not ready",
    world({ status: unready(running) }),
    [/^CSI205 warning: disk.* because of driver: a roll-/],
  ],
  [
    "a driver that has only just started, and is not ready",
    world({ inCsiNode: {}, status: unready({ kind: "running", at: ago(0.5) }) }),
    [/^CSI204 problem: disk/],
  ],
  [
    "a node that was off for half an hour, and makes its pods anew",
    world({
      status: {
        ...CREATING,
        conditions: [
          { ...isReady, lastTransitionTime: ago(30) },
          { ...isReady, type: "PodReadyToStartContainers", status: "True" },
        ],
      },
    }),
    [CSI202],
  ],
  [
    "an init container that runs",
    world({ inCsiNode: {}, daemon: withInits({ name: "fetch" }), status: initializing({ fetch: INIT }) }),
    [
      /^CSI202 .*init container fetch has run since 2026-11-22T11:59.*the others wait .* -> .*logs .* -c fetch$/,
    ],
  ],
  [
    "a sidecar that has not started, beside one that has",
    world({
      inCsiNode: {},
      daemon: withInits({ name: "up", restartPolicy: "Always" }, { name: "late", restartPolicy: "Always" }),
      status: initializing({ up: { ...INIT, started: true }, late: INIT }),
    }),
    [/^CSI202 .*: sidecar late has run/],
  ],
  ...["Failed", "Succeeded"].map((phase) => {
    const make = world({}, pod(ended(phase), { creationTimestamp: ago(60) }));
    return [`a pod that is ${phase}, beside its successor that runs`, make, []] as const;
  }),
  [
    "a DaemonSet that was applied a minute ago, and its pods are not created yet",
    world({ ...alone, desired: 2 }, having(/daemonsets$/, young), needed()),
    [CSI207, /^CSI207 problem: DaemonSet/, CSI211],
  ],
  [
    "a node that joins",
    world({ desired: 2 }, nodeTwo, needed("node-2")),
    [CSI207, /^CSI207 problem: DaemonSet/, CSI211],
  ],
  [
    "a Node that was created again",
    world({ podsOn: [] }, having(/csinodes$/, deletedOwner), having(/(?<!csi)nodes$|daemonsets$/, young)),
    [
      /^CSI208 warning: .*but DaemonSet storage\/disk-node has no pods \(no node fits .* probably left/,
      CSI218,
    ],
  ],
])("%s", async (_what, make, lasts) => {
  const cluster = await make();
  await expectSaid(cluster);
  cluster.setNow(NOW_MS + 20 * 60_000);
  await expectSaid(cluster, ...lasts);
});

const END = { at: ago(5), exitCode: 255 };
const back = (last: Ended): ContainerChange => ({ kind: "running", at: ago(4), restarts: 3, last });
/** Kubelet has no longer the end of the container that was there before. */
const forgotten = (minutes: number, restarts = 31): ContainerChange => ({
  ...{ kind: "running", at: ago(minutes), restarts },
});
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
  [
    "an end that is not known, of 31 in all",
    [/^CSI113 .* no end of container registrar/],
    both(forgotten(9)),
  ],
  ["an end that is not known, long ago", [], both(forgotten(11))],
  ["an end that is not known, of 2 in all", [], both(forgotten(1, 2))],
])("containers that were restarted after %s", async (_what, said, containers) => {
  const daemon = daemonSet(DISK);
  const { spec } = daemon.spec.template;
  spec.containers = spec.containers.filter(({ name }) => name in containers);
  await expectSaid(await makeCluster({ daemon, status: podStatus(containers) }), ...said);
});

test("of a DaemonSet's two pods on a node the one that keeps restarting counts", async () => {
  const restarting = podStatus(both(back({ ...END, exitCode: 1 })));
  await expectSaid(
    await world({}, pod(restarting, { creationTimestamp: ago(30) }))(),
    /^CSI203 problem: .*has restarted 3 times/,
  );
});

test("a roll-out of the node-wide registrar with maxSurge has no duplicate", async () => {
  const deployed: Act = (cluster) => deploy(cluster, ALL, ["node-1"], () => WELL);
  const cluster = await world({}, deployed, pod(RUNS, {}, ALL))();
  const said = (await cluster.report()).findings.map(({ code }) => code);
  expect(said).toContain("CSI204");
  expect(said).not.toContain("CSI206");
});

test.each([
  [
    "registration",
    "plugins_registry is not a directory",
    /kubelet has another root directory on that node: /,
  ],
  ["kubelet-dir", " is not a directory", /kubelet has another root directory on that node: /],
  ["pods", "pods/ is not a directory", /kubelet has another root directory on that node: /],
  [
    "plugin",
    "plugins/x is not a directory",
    /correct that hostPath, .* -n storage describe pod disk-node-node-1$/,
  ],
  ["socket", "plugins/x/csi.sock is not a socket file", /correct that hostPath, /],
])("a pod that waits for a hostPath of volume %s: %s", async (volume, what, fix) => {
  const cluster = await makeCluster({ inCsiNode: {}, status: CREATING });
  const [pod] = cluster.find({ path: PODS }) as [Parameters<typeof failedMount>[0]];
  const path = `/var/lib/kubelet/${what}`.replace("/ ", " ");
  const latest = `MountVolume.SetUp failed for volume "${volume}" : hostPath type check failed: ${path}`;
  const events = [
    [9, "configmap not found"] as const,
    [1, latest] as const,
    [5, "secret not found"] as const,
  ];
  for (const [minutes, message] of events)
    await cluster.create(`${PODS.replace("pods", "events")}`, {
      ...failedMount(pod, DISK, "node-1"),
      metadata: { name: `event-${minutes}`, namespace: "storage" },
      lastTimestamp: ago(minutes),
      message,
    });
  const said = `^CSI202 problem: .*ContainerCreating: ${latest} -> ${fix.source}`;
  await expectSaid(cluster, new RegExp(said));
});

const terminated = { exitCode: 1, reason: "Error", startedAt: ago(3), finishedAt: ago(3) };
const CRASH = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } };
const PULL = { state: { waiting: { reason: "ImagePullBackOff", message: "no such image\n" } } };
test.each([
  [
    "fails again and again",
    9,
    CRASH,
    /^CSI203 .*: init container fetch has restarted 9 .* -c fetch --previous$/,
  ],
  [
    "failed a moment ago",
    0,
    { state: { terminated } },
    /^CSI203 .*: init container fetch has ended .* -c fetch$/,
  ],
  ["does not start", 0, PULL, /^CSI202 .*: init container fetch does not start: .*: no such image -> /],
])("an init container that %s", async (_what, restartCount, state, said) => {
  const status = initializing({ fetch: { ...INIT, restartCount, ...state } });
  await expectSaid(await makeCluster({ inCsiNode: {}, daemon: withInits({ name: "fetch" }), status }), said);
});
