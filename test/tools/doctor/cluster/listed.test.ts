import {
  daemonSet,
  failedMount,
  podStatus,
  volumeAttachment,
  waitingPod,
} from "../../../support/cluster-objects";
import { ago, expectSaid, makeCluster, WELL } from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";

test.each([
  [
    5,
    0.5,
    /^CSI204 problem: disk\S+ is in CSINode, but kubelet says in its latest events that it does not have/,
  ],
  [5, 4, undefined],
  // It may not have been registered yet.
  [1, 0.5, undefined],
])(
  "kubelet's word counts against CSINode: %d minutes after the registrar's start, an event of %d minutes ago",
  async (startedMinutes, minutes, problem) => {
    const started = { kind: "running", at: ago(startedMinutes) } as const;
    const cluster = await makeCluster({ status: podStatus({ registrar: started, driver: started }) });
    const waits = await cluster.create("/api/v1/namespaces/default/pods", waitingPod("db", "node-1"));
    const event = { ...failedMount(waits, DISK, "node-1"), lastTimestamp: ago(minutes) };
    await cluster.create("/api/v1/namespaces/default/events", event);
    await expectSaid(cluster, ...(problem ? [problem, /^CSI211 problem: .*1 pod \(default\/db\)/] : []));
    expect((await cluster.report()).drivers).toMatchObject([{ nodes: 1, registered: problem ? 0 : 1 }]);
  },
);

const DENIED = /^CSI204 problem: disk\S+ is in CSINode, but kubelet says in its latest events/;
test.each([
  ["in its series", { eventTime: ago(60), series: { count: 9, lastObservedTime: ago(0.5) } }, DENIED],
  ["once", { eventTime: ago(0.5) }, DENIED],
  ["at no time that is known", {}, /^CSI113 unknown: events default\/db.mount cannot be judged: /],
])("an event of events.k8s.io occurred last: %s", async (_when, times, said) => {
  const started = { kind: "running", at: ago(5) } as const;
  const cluster = await makeCluster({ status: podStatus({ registrar: started, driver: started }) });
  const waits = await cluster.create("/api/v1/namespaces/default/pods", waitingPod("db", "node-1"));
  const event = { ...failedMount(waits, DISK, "node-1"), lastTimestamp: null, ...times };
  await cluster.create("/api/v1/namespaces/default/events", event);
  await expectSaid(cluster, said, ...(said === DENIED ? [/^CSI211 problem: /] : []));
});

test.each([true, false])(
  "a driver that CSINode lists, whose DaemonSet has no pod there, beside a registrar of all drivers: %s",
  async (isBeside) => {
    const cluster = await makeCluster({ podsOn: [] });
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
    const ofAll = daemonSet("all", { path: "/var/lib/kubelet/plugins/*/csi.sock" });
    if (isBeside) await deploy(cluster, ofAll, ["node-1"], () => WELL);
    const { findings } = await cluster.report();
    const codes = findings.flatMap(({ code, subject }) => (subject === DISK ? [code] : []));
    expect(codes.includes("CSI207")).toBe(!isBeside); // That one may serve it.
  },
);

test.each([true, false])(
  "a CSINode of a Node that was deleted, where the new one is Ready: %s",
  async (isReady) => {
    const cluster = await makeCluster({ isReady });
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "old" }];
    cluster.edit((stored) =>
      stored.map(({ path, object }) => {
        const metadata = { ...object.metadata, ...(/csinodes$/.test(path) ? { ownerReferences } : {}) };
        return { path, object: { ...object, metadata } };
      }),
    );
    const { findings } = await cluster.report();
    const codes = findings.flatMap(({ code, status }) => (status === "problem" ? [code] : []));
    expect(codes).toEqual(isReady ? ["CSI218"] : []);
  },
);

test("a DaemonSet whose containers are missing cannot be judged", async () => {
  const cluster = await makeCluster();
  await cluster.create("/apis/apps/v1/namespaces/storage/daemonsets", {
    ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "bare", namespace: "storage" } },
    spec: { selector: { matchLabels: { app: "bare" } }, template: { metadata: {}, spec: {} } },
  });
  await expectSaid(cluster, /^CSI113 unknown: daemonsets storage\/bare cannot be judged: /);
});

test("a driver that a Deployment registers on another node is not to be installed", async () => {
  const cluster = await makeCluster({ inCsiNode: { [DISK]: "i-1", "lost.csi": "i-1" } });
  const ownerReferences = [{ kind: "ReplicaSet", name: "x", uid: "1", controller: true }];
  await addNode(cluster, "node-2");
  await cluster.create("/api/v1/namespaces/storage/pods", {
    metadata: { name: "lost", namespace: "storage", ownerReferences },
    spec: { ...daemonSet("lost.csi").spec.template.spec, nodeName: "node-1" },
  });
  await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", "lost.csi", "node-2"));
  const CSI208 =
    /^CSI208 problem: lost.* -> pod storage\/lost \(ReplicaSet x\) has .* on another node: run it in a Dae/;
  await expectSaid(cluster, CSI208, /^CSI209/, /^CSI211 problem: lost/);
});

const HIDDEN =
  /^CSI212 unknown: csinodes could not be listed: the answer is an empty list, and there are 2 nodes -> use an account/;
const DELETED = /^CSI204 problem: .*has no CSINode, which was probably deleted/;

test.each<readonly [what: string, left: RegExp, others: readonly object[], target: object, says: RegExp]>([
  ["no CSINode at all, and two Ready nodes", /x/, [{}], {}, HIDDEN],
  ["no CSINode at all, and one of two nodes is Ready", /x/, [{ isReady: false }], {}, HIDDEN],
  ["no CSINode at all, and one of two nodes is asked for", /x/, [{}], { node: "node-1" }, HIDDEN],
  ["no CSINode of the one that is asked for", /node-2/, [{}], { node: "node-1" }, DELETED],
  ["no CSINode of the only node", /x/, [], {}, DELETED],
])("%s", async (_what, left, others, target, says) => {
  const cluster = await makeCluster();
  for (const other of others) await addNode(cluster, "node-2", {}, other);
  cluster.edit((all) =>
    all.filter(({ path, object }) => !path.endsWith("/csinodes") || left.test(object.metadata.name)),
  );
  const { findings } = await cluster.report(target);
  const told = findings.map(
    ({ code, status, subject, text, fix }) => `${code} ${status}: ${subject} ${text} -> ${fix}`,
  );
  expect(told.filter((line) => !/possibly| ok:/.test(line))).toEqual([expect.stringMatching(says)]);
});
