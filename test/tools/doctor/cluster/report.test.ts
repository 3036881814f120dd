import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import {
  type ContainerChange,
  daemonSet,
  type Ended,
  failedMount,
  podStatus,
  volumeAttachment,
  waitingPod,
} from "../../../support/cluster-objects";
import { ago, type Changes, expectSaid, makeCluster, running, said, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";

const none = { inCsiNode: {} };
const withRegistrar = (registrar: ContainerChange, driver: ContainerChange = running): Changes => ({
  ...none,
  status: podStatus({ registrar, driver }),
});
const crashLoop = (last: Partial<Ended>, restarts = 7): ContainerChange => ({
  kind: "crash-loop",
  restarts,
  last: { at: ago(1), exitCode: 1, ...last },
});
const crashed = (last: Partial<Ended>, driver?: ContainerChange) => withRegistrar(crashLoop(last), driver);
const waitingFor = (reason: string, message = "") => withRegistrar({ kind: "waiting", reason, message });
const restarted = (times: number, minutes: number): Changes => ({
  status: podStatus({
    registrar: { kind: "running", at: ago(1), restarts: times, last: { at: ago(minutes), exitCode: 1 } },
    driver: running,
  }),
});

const scheduled = { type: "PodScheduled", status: "True" };
const afterReboot = (finishedAt: string) => ({
  phase: "Running",
  conditions: [scheduled],
  containerStatuses: ["registrar", "driver"].map((name) => ({
    name,
    ...{ restartCount: 1, ready: false },
    state: { waiting: { reason: "ContainerCreating" } },
    lastState: { terminated: { exitCode: 255, reason: "Unknown", finishedAt } },
  })),
});
const ended = (exitCode: number) => {
  const state = { terminated: { exitCode, finishedAt: ago(1) } };
  const [, driver] = WELL.containerStatuses;
  const lastState = { terminated: { exitCode: 1, finishedAt: ago(3) } };
  const registrar = { name: "registrar", restartCount: 2, ready: false, state, lastState };
  return { phase: "Running", conditions: [scheduled], containerStatuses: [registrar, driver] };
};
const initializing = { kind: "waiting", reason: "PodInitializing", message: "" } as const;
const noRoom = { type: "PodScheduled", status: "False", message: "Insufficient cpu" };

test.each<readonly [expected: RegExp, Changes]>([
  [
    /^CSI201 problem: disk.csi.example.com has a registrar that keeps restarting: container registrar has restarted 7 times \(exit code 1\): kubelet refused the driver: no -> do what its termination message says; for the whole log: kubectl -n storage logs disk-node-node-1 -c registrar --previous$/,
    crashed({ message: "kubelet refused the driver: no" }),
  ],
  [/^CSI201 .*\(exit code 1\) -> see why it ended: kubectl/, crashed({})],
  [/^CSI201 .*\(OOMKilled, exit code 137\) -> see what/, crashed({ exitCode: 137, reason: "OOMKilled" })],
  [/^CSI201 .*\(Completed, exit code 0\)/, crashed({ exitCode: 0, reason: "Completed" })],
  [/^CSI201 .*-> see what ended it, its memory limit or a probe: kubectl/, crashed({ exitCode: 143 })],
  [/^CSI201 .*has restarted 3 times/, restarted(3, 9)],
  [/^CSI201 .*has restarted once \(exit code 1\)/, withRegistrar(crashLoop({}, 1))],
  [
    /^CSI202 problem: .*has no working pod there: container registrar does not start: ImagePullBackOff: no such image -> see its events: kubectl -n storage describe pod disk-node-node-1$/,
    waitingFor("ImagePullBackOff", "no such image"),
  ],
  [/^CSI202 .*does not start: ContainerCreating ->/, waitingFor("ContainerCreating")],
  [
    /^CSI202 .*container registrar does not start: kubelet does not report its state -> see its events/,
    { ...none, status: { phase: "Pending", conditions: [scheduled] } },
  ],
  [
    /^CSI202 problem: .*the scheduler finds no node for its pod: Insufficient cpu/,
    { ...none, isScheduled: false, status: { conditions: [noRoom] } },
  ],
  [
    /^CSI203 .*container fetch has restarted 4 times/,
    {
      ...none,
      status: {
        ...podStatus({ registrar: initializing, driver: initializing }),
        initContainerStatuses: podStatus({ fetch: crashLoop({}, 4) }).containerStatuses,
      },
    },
  ],
  [/^CSI203 .*driver has restarted 9 times \(exit code 139\)/, crashed({}, crashLoop({ exitCode: 139 }, 9))],
  [
    /^CSI204 problem: .*is not in CSINode: its pod runs.* -> run doctor in its container: kubectl -n storage exec disk-node-node-1 -c registrar -- \/csi-node-driver-registrar doctor --csi-address=\/csi\/csi\.sock --kubelet-registration-path=\/var\/lib\/kubelet\/plugins\/disk\.csi\.example\.com\/csi\.sock$/,
    none,
  ],
  [
    /^CSI204 .*-> run registrar doctor --host-root=\/host .*: kubectl -n storage logs disk-node-node-1 -c registrar$/,
    { ...none, set: { image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0" } },
  ],
  [
    /^CSI204 .*-> see kubelet's log .*: kubectl -n storage logs disk-node-node-1 -c registrar$/,
    { ...none, set: { image: "official/csi-node-driver-registrar:v2.17.0", path: "C:\\disk\\csi.sock" } },
  ],
  [
    /^CSI207 problem: DaemonSet storage\/disk-node has only 1 of 3 pods: .* -> see its events: kubectl -n storage describe daemonset disk-node$/,
    { desired: 3 },
  ],
  [/^CSI209 warning: disk.csi.example.com has no CSIDriver object/, { hasCsiDriver: false }],
])("%s", async (expected, changes) => {
  await expectSaid(await makeCluster(changes), expected);
});

test.each([
  [undefined, ["CSI101 unknown"]],
  ["corp/sidecar", []],
])("an image of another name, with --image=%s", async (image, expected) => {
  const cluster = await makeCluster({ set: { image: "corp/sidecar:v1" } });
  const { findings } = await cluster.report({}, { image });
  const bad = findings.filter(({ status }) => status !== "ok");
  expect(bad.map(({ code, status }) => `${code} ${status}`)).toEqual(expected);
});

test.each<readonly [what: string, Changes]>([
  ["a registrar that was started just now", withRegistrar({ kind: "running", at: ago(0.5) })],
  ["one that restarted often, 11 minutes ago", restarted(30, 11)],
  ["one that restarted twice", restarted(2, 1)],
  ["one that ended well and is about to be restarted", { ...none, status: ended(0) }],
  [
    "a pod that was put on its node just now",
    { ...none, status: { phase: "Pending", conditions: [{ ...scheduled, lastTransitionTime: ago(1) }] } },
  ],
  ["an old pod whose containers are made anew after a reboot", { ...none, status: afterReboot(ago(1)) }],
])("%s has no finding", async (_what, changes) => {
  await expectSaid(await makeCluster(changes));
});

test("a healthy cluster has a row for each driver and node, and no finding", async () => {
  const cluster = await makeCluster();
  await expectSaid(cluster);
  const { healthy, findings, drivers, nodes } = await cluster.report();
  const well = { status: "ok", subject: DISK, text: "is registered on 1 node", nodes: ["node-1"] };
  expect([healthy, findings]).toMatchObject([true, [{ code: "CSI204", ...well }]]);
  const counts = { nodes: 1, registered: 1, csiDriver: true, guessed: false };
  expect(drivers).toEqual([{ name: DISK, daemonSets: ["storage/disk-node"], ...counts }]);
  const place = { state: "registered", reason: null, code: null, pod: "storage/disk-node-node-1" };
  const need = { csiNode: true, waitingPods: [], volumeAttachments: 0 };
  expect(nodes).toEqual([{ node: "node-1", driver: DISK, ...place, ...need }]);
});

test("the registrar of all drivers counts the nodes where it runs, and is no driver of its own", async () => {
  const cluster = await makeCluster({ set: { path: "/var/lib/kubelet/plugins/*/csi.sock" } });
  const report = await cluster.report();
  const every = { name: "(every driver)", nodes: 1, registered: 1, csiDriver: null };
  expect(report.drivers).toContainEqual(expect.objectContaining(every));
  const text = renderClusterTable(report, { width: 100, colors: false });
  expect(text).toMatch(/^\(every driver\) +1 of 1 +- +storage\/disk-node$/m);
});

test("a driver beside which a container crashes is registered where CSINode lists it", async () => {
  const cluster = await makeCluster({ status: podStatus({ registrar: running, driver: crashLoop({}) }) });
  expect((await cluster.report()).drivers).toMatchObject([{ name: DISK, nodes: 1, registered: 1 }]);
});

test("doctor reports two DaemonSets of one driver on a node", async () => {
  const cluster = await makeCluster();
  await deploy(cluster, daemonSet(DISK, { name: "disk-again" }), ["node-1"], () => WELL);
  await expectSaid(
    cluster,
    /^CSI206 problem: .*has several registrars: storage\/disk-again-node-1 and storage\/disk-node-node-1 register it -> keep only one registrar/,
  );
});

test("doctor reports a pod that waits by its event for a driver, and not one that waits for something else", async () => {
  const cluster = await makeCluster({ ...none, podsOn: [] });
  const waits = await cluster.create("/api/v1/namespaces/default/pods", waitingPod("db", "node-1"));
  await cluster.create("/api/v1/namespaces/default/pods", waitingPod("web", "node-1"));
  await cluster.create("/api/v1/namespaces/default/events", failedMount(waits, DISK, "node-1"));
  await expectSaid(
    cluster,
    /^CSI207 problem: .*is needed, and no pod of DaemonSet storage\/disk-node is on the node: no node fits/,
    /^CSI211 problem: .*has 1 pod \(default\/db\) waiting for it/,
  );
  const { findings } = await cluster.report();
  expect(findings[1]).toMatchObject({ follows: "CSI207", followsIndex: 0, nodes: ["node-1"] });
});

test("pods that wait on a silent node are reported without a driver's problem", async () => {
  const cluster = await makeCluster({ isReady: false });
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-gone"));
  const waits = await cluster.create("/api/v1/namespaces/default/pods", waitingPod("db", "node-1"));
  for (const driver of [DISK, "other.csi"])
    await cluster.create("/api/v1/namespaces/default/events", failedMount(waits, driver, "node-1"));
  await expectSaid(
    cluster,
    /^CSI211 unknown: nodes are not ready or gone: it is not known which drivers are registered there; needed by 1 pod \(default\/db\) and 1 VolumeAttachment -> see why kubelet does not report: kubectl describe node node-1$/,
  );
  const { healthy, findings, nodes } = await cluster.report();
  expect([healthy, findings.at(-1)?.nodes]).toEqual([false, ["node-1", "node-gone"]]);
  expect(nodes.map(({ state, code }) => `${state} ${code}`)).toEqual(Array(3).fill("node-away CSI211"));
});

test.each(["csinodes", "pods"])(
  "a node that %s name, and that the Nodes lack, is unknown",
  async (resource) => {
    const cluster = await makeCluster(resource === "pods" ? {} : { podsOn: [] });
    cluster.edit((all) =>
      all.filter(({ path }) => /daemonsets|csidrivers/.test(path) || path.endsWith(resource)),
    );
    await expectSaid(
      cluster,
      /^CSI204 unknown: disk\S+ .*: the list of Nodes lacks a node that a CSINode or a/,
    );
    const { healthy, nodes } = await cluster.report();
    expect([healthy, nodes.map(({ state }) => state)]).toEqual([false, ["unseen"]]);
  },
);

test("a DaemonSet that cannot be judged is named, and the others are judged", async () => {
  const cluster = await makeCluster(none);
  await deploy(cluster, daemonSet("bomb.csi", { name: "bomb", path: "x".repeat(2 ** 17) }), [], () => WELL);
  await expectSaid(
    cluster,
    /^CSI113 unknown: daemonsets storage\/bomb cannot be judged: it has a text of .*: kubectl -n storage get daemonsets bomb -o yaml$/,
    /^CSI204 problem: disk/,
  );
  expect((await cluster.report({ driver: "shares.csi" })).healthy).toBe(false);
});

test("doctor reports a volume of a driver that no DaemonSet has", async () => {
  const cluster = await makeCluster();
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", "gone.csi", "node-1"));
  await expectSaid(
    cluster,
    /^CSI208 problem: gone\.csi is needed, and no DaemonSet has a registrar for it/,
    /^CSI211 problem: gone\.csi has 1 VolumeAttachment waiting for it/,
  );
});

const STARTUP = { key: `${DISK}/agent-not-ready`, effect: "NoExecute" };
const GPU = { key: "gpu", value: "yes", effect: "NoSchedule" };
const tolerating = (...tolerations: readonly object[]): Changes => {
  const set = daemonSet(DISK, { driverArgs: ["--remove-startup-taint={driver}/own:NoSchedule"] });
  Object.assign(set.spec.template.spec, { tolerations });
  return { daemon: set };
};
const own = { key: `${DISK}/own`, effect: "NoSchedule" };
const needing = { ...none, podsOn: [] };

test.each<readonly [taints: readonly object[], Changes, expected: readonly RegExp[]]>([
  [
    [STARTUP],
    {},
    [
      /^CSI213 problem: disk.* startup taint disk.csi.example.com\/agent-not-ready:NoExecute is still there: .* kubectl taint node node-1 disk.csi.example.com\/agent-not-ready:NoExecute-$/,
    ],
  ],
  [
    [own],
    tolerating({ operator: "Exists" }),
    [/^CSI213 problem: disk.* startup taint disk\S*own:NoSchedule is/],
  ],
  [[{ ...own, effect: "NoExecute" }], tolerating({ operator: "Exists" }), []],
  [[GPU], {}, []],
  [
    [own],
    { ...needing, ...tolerating({ key: "gpu", operator: "Exists" }) },
    [
      /^CSI213 problem: DaemonSet storage\/disk-node does not tolerate its driver's startup taint disk\S*own:NoSchedule/,
    ],
  ],
  [[GPU], { ...needing, ...tolerating({ key: "gpu", value: "yes", effect: "NoSchedule" }) }, []],
])("taints %j", async (taints, changes, expected) => {
  const cluster = await makeCluster(changes);
  await cluster.setSpec("/api/v1/nodes/node-1", { taints });
  await expectSaid(cluster, ...expected);
});

test.each([
  ["NoSchedule", { key: "gpu", value: "no" }, ", and the set does not .* taint gpu=yes:NoSchedule -> add"],
  ["NoExecute", { key: "gpu", value: "no" }, ", and the set does not .* taint gpu=yes:NoExecute -> add"],
  ["NoSchedule", { key: "gpu", operator: "Exists" }, ": no node fits"],
  ["NoSchedule", { operator: "Exists" }, ": no node fits"],
])("doctor names the taint that keeps a pod away: %s, with %j", async (effect, toleration, because) => {
  const cluster = await makeCluster({ ...needing, ...tolerating(toleration) });
  const kept = { key: "node.kubernetes.io/not-ready", effect };
  const taints = [kept, { ...GPU, effect: "PreferNoSchedule" }, { ...GPU, effect }];
  await cluster.setSpec("/api/v1/nodes/node-1", { taints });
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
  const said = new RegExp(`^CSI207 problem: .* is on the node${because}.*(?: node-1|-labels)$`);
  await expectSaid(cluster, said, /^CSI211/);
});

const LOST = "lost.csi";
const owned = (owner: object | undefined, driver = LOST) => ({
  metadata: {
    name: "lost",
    namespace: "storage",
    ...(owner && { ownerReferences: [{ ...owner, uid: "1", controller: true }] }),
  },
  spec: { ...daemonSet(driver).spec.template.spec, nodeName: "node-1" },
});

test.each([
  [
    "logs of its registrar",
    owned({ kind: "Node", name: "node-1" }),
    /a static pod: .* and a registrar: .* kubectl -n storage logs lost -c registrar$/,
  ],
  ["its owner", owned({ kind: "StatefulSet", name: "x" }), /pod storage\/lost \(StatefulSet x\) has/],
  ["nobody", owned(undefined), /\(no controller\)/],
  ["nothing of another driver", owned(undefined, "lost.csi.io"), /-> install the driver/],
])("doctor names who serves a driver that no DaemonSet registers: %s", async (_what, pod, expected) => {
  const cluster = await makeCluster();
  await cluster.create("/api/v1/namespaces/storage/pods", pod);
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", LOST, "node-1"));
  expect((await said(cluster))[0]).toMatch(/^CSI208 problem/);
  expect((await said(cluster))[0]).toMatch(expected);
});

test("where it is unknown who serves a driver, the fix is not only to install it", async () => {
  const cluster = await makeCluster();
  for (const at of [1, 2, 3, 4, 5, 6, 7]) {
    if (at > 1) await addNode(cluster, `node-${at}`);
    const lost = volumeAttachment(`a${at}`, `lost-${at}.csi`, `node-${at}`);
    await cluster.create(`${STORAGE}/volumeattachments`, lost);
  }
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("b", "lost-1.csi", "node-7"));
  const fixes = async () =>
    (await said(cluster)).flatMap((line) => /^CSI208 .*-> (.*)$/.exec(line)?.[1] ?? []);
  const unless =
    /, unless a pod of its node serves it: (.*): kubectl get pods -A --field-selector=spec.nodeName=node-(\d)$/;
  const open = async () => (await fixes()).map((fix) => unless.exec(fix)?.slice(1).join() ?? "");
  const cut = "doctor looks at the pods of 5 nodes at most";
  expect(await open()).toEqual([`${cut},7`, "", "", "", "", `${cut},6`, `${cut},7`]);
  const what = { kind: "forbidden", message: "no" } as const;
  cluster.setFault({ read: /pods spec.nodeName=node-/, page: 0, what });
  expect(await open()).toContain("Pods could not be listed,1");
});

test("after a CSINode was recreated the fix is to delete the pod", async () => {
  const cluster = await makeCluster(none);
  cluster.edit((stored) =>
    stored.map((one) => {
      const { metadata } = one.object;
      const anew = { ...metadata, creationTimestamp: ago(20) };
      return one.path.endsWith("/csinodes") ? { ...one, object: { ...one.object, metadata: anew } } : one;
    }),
  );
  await expectSaid(
    cluster,
    /^CSI204 .*CSINode was made anew .*: kubectl -n storage delete pod disk-node-node-1$/,
  );
});
