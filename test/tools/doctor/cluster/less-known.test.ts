import { isWaitedFor } from "../../../../src/tools/doctor/cluster/judge/states";
import { EVERY_DRIVER } from "../../../../src/tools/doctor/cluster/read/units";
import { itemsOf, open, trueOrNull } from "../../../../src/tools/doctor/findings/opened";
import { daemonSet, onHostPath, podStatus, volumeAttachment } from "../../../support/cluster-objects";
import { otherFactsIn } from "../findings/less-known";
import { clusterOf } from "./admitted-cluster";
import { callsOf, NO_FACTS } from "./cluster-calls";
import { makeDouble } from "./healthy-cluster";
import {
  ago,
  createMemoryCluster,
  expectSaid,
  type MemoryCluster,
  makeCluster,
  running,
  WELL,
} from "./memory-cluster";
import { addNode, DISK, deploy, STORAGE } from "./sick-cluster";
import { WORLDS } from "./too-much";

// Judges take the facts of a cluster for true: where less could be read, they may be unread, and none may be another one.

const PODS = "/api/v1/namespaces/storage/pods";

/** Two DaemonSets of a driver, two pods of one on a node, and two registrars in a pod. */
async function makeTwo(): Promise<MemoryCluster> {
  const cluster = await makeCluster();
  const again = daemonSet(DISK, { name: "disk-again" });
  const [registrar, driver] = again.spec.template.spec.containers;
  if (registrar === undefined || driver === undefined) throw new Error("there is no container");
  const second = { ...registrar, name: "second", args: ["--csi-address=/csi/b.sock", ...registrar.args] };
  again.spec.template.spec.containers = [registrar, second, driver];
  const status = podStatus({ registrar: running, second: running, driver: running });
  await deploy(cluster, again, ["node-1"], () => status);
  const [pod] = cluster.find({ path: PODS, kind: "PodList" }) as readonly { readonly metadata: object }[];
  await cluster.create(PODS, { ...pod, metadata: { ...pod?.metadata, name: "disk-node-other" } });
  return cluster;
}

test.each([
  ...WORLDS,
  ["two of each", makeTwo] as const,
  ["two of each, without a CSIDriver", makeDouble] as const,
])("%s: an unread page or object makes no other fact", async (_what, make) => {
  const cluster = await make();
  const more = await cluster.facts();
  const calls = callsOf(more);
  const pages = Array.from(cluster.reads, ([read, count]) =>
    Array.from({ length: count }, (_, at) => [read, at] as const),
  );
  const wrong = new Map<string, string>();
  for (const [read, page] of pages.flat())
    for (const what of [{ kind: "forbidden", message: "you may not" }, "broken"] as const) {
      // What lacks all after a page lacks what the page after it has, too.
      if (what !== "broken" && page % 4 > 0) continue;
      cluster.setFault({ read, page, what });
      const less = await cluster.facts();
      for (const one of otherFactsIn(less, more, { asWritten: NO_FACTS, calls }))
        wrong.set(one.replace(/: .*/, ""), `${read} ${page}: ${one}`);
    }
  expect([...wrong.values()]).toEqual([]);
});

describe("what nobody looks for is no certain no", () => {
  const placeIn = async (cluster: MemoryCluster) => {
    const facts = await cluster.facts();
    const [place] = itemsOf(facts.places);
    if (place === undefined) throw new Error("there is no place");
    return { facts, place };
  };
  const onNode = async (spec?: object) => {
    const cluster = createMemoryCluster();
    await addNode(cluster, "node-1", { [DISK]: "i" });
    const metadata = { name: "x", namespace: "storage" };
    const containers = [{ name: "x", image: "example.com/x:v1" }];
    if (spec) await cluster.create(PODS, { metadata, spec: { nodeName: "node-1", containers, ...spec } });
    return placeIn(cluster);
  };
  const inline = { volumes: [{ name: "data", csi: { driver: DISK } }] };
  const host = onHostPath(`/x/${DISK}`);
  const answersOf = async (spec?: object) => {
    const { facts, place } = await onNode(spec);
    const { owners, rivals, users } = facts.ownersOf(place);
    const ofOwners = itemsOf(owners).map(({ registrar }) => registrar);
    const lists = [users, owners, rivals, ...ofOwners].map((list) => list.contains());
    return [isWaitedFor(place, facts), ...lists].map(trueOrNull);
  };

  test("a pod may have a PersistentVolume of a driver, and a registrar may be a program of any name", async () => {
    expect(await answersOf()).toEqual([null, null, null, null]);
    // It waits for its volume.
    expect(await answersOf(inline)).toEqual([true, true, null, null]);
    expect(await answersOf(host)).toEqual([null, null, true, null, null]);
  });

  test("no CSINode can list the node-wide registrar, and a node that does not report does not say that it is not ready", async () => {
    const { place } = await placeIn(await clusterOf({ inPod: null, hasNodeWide: true }));
    expect([open(place.driver).told, trueOrNull(place.isListed)]).toEqual([EVERY_DRIVER, null]);
    const cluster = await makeCluster();
    await cluster.setStatus("/api/v1/nodes/node-1", { conditions: [{ type: "Ready", status: "Unknown" }] });
    const { nodes } = await cluster.facts();
    expect(itemsOf(nodes.map(({ ready }) => ready))).toEqual(["Unknown"]);
  });
});

describe("what is old, or new to doctor, is no certain answer", () => {
  const crash = podStatus({
    registrar: { kind: "crash-loop", restarts: 9, last: { at: ago(1), exitCode: 1 } },
    driver: running,
  });
  const ready = (status: string) => ({ conditions: [{ type: "Ready", status }] });

  test.each([
    ["False", /^CSI201 problem: disk.* keeps restarting/],
    ["Unknown", /^CSI211 unknown: nodes are not ready or gone/],
  ])("what kubelet said of a container, where its node is Ready=%s", async (status, said) => {
    const cluster = await makeCluster({ inCsiNode: {}, status: crash });
    await cluster.setStatus("/api/v1/nodes/node-1", ready(status));
    await expectSaid(cluster, said);
  });

  test.each([
    [{ key: "gpu", effect: "NoSchedule" }, { operator: "Gt", value: "3" }, "Gt"],
    [{ key: "gpu", effect: "NoEviction" }, { operator: "Equal", value: "3" }, "NoEviction"],
    [{ key: "gpu", effect: "NoEviction" }, { operator: "Exists" }, undefined],
  ])("a taint %j with the toleration %j", async (taint, toleration, word) => {
    const daemon = daemonSet(DISK);
    Object.assign(daemon.spec.template.spec, { tolerations: [{ key: "gpu", ...toleration }] });
    const cluster = await makeCluster({ daemon, podsOn: [], inCsiNode: {} });
    await cluster.setSpec("/api/v1/nodes/node-1", { taints: [taint] });
    await cluster.create(`${STORAGE}/volumeattachments`, volumeAttachment("a", DISK, "node-1"));
    const unknown = new RegExp(`^CSI204 unknown: .*doctor does not know what ${word} means in a taint`);
    await expectSaid(cluster, ...(word === undefined ? [/^CSI207 problem/, /^CSI211 problem/] : [unknown]));
  });

  test("a pod that is only meant for a node does not show that the node is there", async () => {
    const noRoom = {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", message: "no room" }],
    };
    const cluster = await makeCluster({ podsOn: ["node-2"], isScheduled: false });
    await cluster.setStatus(`${PODS}/disk-node-node-2`, noRoom);
    const { nodes } = await cluster.report();
    expect(nodes.find(({ node }) => node === "node-2")?.reason).toBe("the node no longer exists");
  });
});

describe("what an object leaves out is no other fact", () => {
  const restarted = { restarts: 9, last: { at: ago(1), exitCode: 1 } } as const;
  const crashing = podStatus({ registrar: { kind: "crash-loop", ...restarted }, driver: running });
  const waits = podStatus({
    registrar: { kind: "waiting", reason: "ContainerCreating", message: "" },
    driver: running,
  });
  const notEnded = (status: object) =>
    JSON.parse(JSON.stringify(status).replace(/"terminated":\{[^{}]*\}/g, ""));
  /** The same, with a change that leaves something out. */
  const othersIn = async (
    cluster: MemoryCluster,
    change: (cluster: MemoryCluster) => Promise<void> | void,
  ) => {
    const more = await cluster.facts();
    await change(cluster);
    return otherFactsIn(await cluster.facts(), more, { asWritten: NO_FACTS, calls: callsOf(more) });
  };
  const podIn = async (cluster: MemoryCluster) => {
    const [pod] = itemsOf((await cluster.facts()).pods);
    if (pod === undefined) throw new Error("there is no pod");
    return pod;
  };

  test("the last state of a container that kubelet removed", async () => {
    const cluster = await makeCluster({ status: crashing });
    expect(
      await othersIn(cluster, () => cluster.setStatus(`${PODS}/disk-node-node-1`, notEnded(crashing))),
    ).toEqual([]);
  });

  test("events, which tell why a pod waits for its volumes", async () => {
    const cluster = await makeCluster({ status: waits });
    const object = {
      kind: "Pod",
      namespace: "storage",
      name: "disk-node-node-1",
      uid: (await podIn(cluster)).uid,
    };
    const event = {
      reason: "FailedMount",
      message: 'MountVolume.SetUp failed for volume "x" : no',
      lastTimestamp: ago(1),
    };
    const metadata = { name: "e", namespace: "storage" };
    await cluster.create("/api/v1/namespaces/storage/events", { metadata, involvedObject: object, ...event });
    const [failure] = itemsOf(
      (await podIn(cluster)).trouble.flatMap((one) =>
        one.kind === "blocked" ? one.mountFailure : undefined,
      ),
    );
    expect(failure).toMatch(/^MountVolume/);
    expect(await othersIn(cluster, () => cluster.refuse(["events"], "no"))).toEqual([]);
  });

  test("the time of a condition: whether nothing has changed is unknown, unless a container has just started", async () => {
    const isQuiet = async (status: object) =>
      trueOrNull((await podIn(await makeCluster({ status }))).isQuiet);
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime: ago(30) }];
    expect(await isQuiet(WELL)).toBe(null);
    expect(await isQuiet({ ...WELL, conditions })).toBe(true);
    const young = podStatus({ registrar: running, driver: { kind: "running", at: ago(1) } });
    expect(await isQuiet(young)).toBe(false);
  });

  test("a registrar with another name, in a pod of an older template", async () => {
    const inPod = { name: "old", image: "example.com/x:v1", command: ["/x"], args: [] };
    const cluster = await clusterOf({ inPod, generations: ["2", "1"] });
    await cluster.setStatus(
      `${PODS}/disk-node-node-1`,
      podStatus({ old: { kind: "crash-loop", ...restarted }, driver: running }),
    );
    const { started, trouble, running: its } = await podIn(cluster);
    const isRegistrar = trouble.flatMap((one) => (one.kind === "restarting" ? [one.container] : []));
    expect([
      ...[started.contains(), its.registrars.contains()].map(trueOrNull),
      ...itemsOf(isRegistrar.map((one) => trueOrNull(one.isRegistrar))),
    ]).toEqual([null, null, null]);
    await expectSaid(
      cluster,
      /^CSI203 problem: disk.* has a pod that keeps restarting: container old has restarted/,
    );
  });
});
