import { createRunningReader, readRegistrarSet } from "../../../../src/tools/doctor/cluster/read/set";
import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import { itemsOf, tell } from "../../../../src/tools/doctor/findings/opened";
import { daemonSet, podStatus, storedSet, volumeAttachment } from "../../../support/cluster-objects";
import { clusterOf, OFFICIAL, OURS } from "./admitted-cluster";
import { ago, expectSaid, running, said } from "./memory-cluster";
import { DISK } from "./sick-cluster";

const crashing = { kind: "crash-loop", restarts: 9, last: { at: ago(1), exitCode: 1 } } as const;
const DROPPED = { inPod: null, hasNodeWide: true } as const;

test.each<readonly [what: string, expected: readonly RegExp[], Parameters<typeof clusterOf>[0]]>([
  ["a swapped pod", [], { inPod: { image: OURS } }],
  ["a dropped registrar", [], { inPod: null }],
  [
    "the same on a node without a Node",
    [/^CSI204 unknown: .*: the list of Nodes lacks a node/],
    { inOthers: [null] },
  ],
  ["a pod of a template without a registrar", [], { inPod: null, generations: ["2", "1"] }],
])("%s", async (_what, expected, world) => {
  await expectSaid(await clusterOf(world), ...expected);
});

test("doctor lists each registrar with its image in the DaemonSet and in its pods", async () => {
  const cluster = await clusterOf({ inPod: { image: OURS } });
  const name = { daemonSet: "storage/disk-node", container: "registrar", driver: DISK, guessed: false };
  const pods = [{ image: OURS, program: "ours", version: "v1", count: 1 }];
  expect((await cluster.report()).registrars).toEqual([
    { ...name, image: OFFICIAL, program: "official", version: "v2.17.0", pods },
  ]);
  const text = renderClusterTable(await (await clusterOf({})).report(), { width: 200, colors: false });
  expect(text).toMatch(/^storage\/disk-node +registrar +official +\S+v2\.17\.0 +1: the same$/m);
  // Nothing says of which template this pod is.
  const [bare] = (await (await clusterOf({ inPod: null, generations: [] })).report()).registrars;
  expect(bare?.pods).toEqual([]);
  const { registrars } = await (await clusterOf(DROPPED)).report();
  expect(registrars.map(({ pods }) => pods?.[0]?.image)).toEqual(["registrar:v1", null]);
});

test("a swapped pod is judged as this registrar, the DaemonSet as the official one", async () => {
  const set = { resources: { limits: { memory: "30Mi" } } };
  await expectSaid(
    await clusterOf({ set, inPod: { image: OURS } }),
    /^CSI105 problem: DaemonSet storage\/disk/,
  );
  expect(await said(await clusterOf({ set }))).toEqual([]);
});

test("pods that admission makes unique do not fill the memory: one result for the same images", () => {
  const own = daemonSet(DISK);
  const set = readRegistrarSet(...storedSet(own));
  const readRunning = createRunningReader();
  const podOf = (n: number, image = OURS) => ({
    spec: { containers: [{ name: "registrar", image, env: [{ name: "ID", value: `${n}` }] }] },
  });
  const read = (pod: object) => set && readRunning(pod as never, set);
  const all = Array.from({ length: 300 }, (_, n) => read(podOf(n)));
  expect([new Set(all).size, all.indexOf(read(podOf(0)))]).toEqual([101, 0]);
  const { registrars } = read(podOf(301, OFFICIAL)) ?? {};
  const images = registrars && itemsOf(registrars).map(({ reference }) => tell(reference));
  expect(images).toEqual([OFFICIAL]);
});

test("--swap reports what the swap changes in the DaemonSets, and nothing else", async () => {
  const cluster = await clusterOf({ set: { resources: { limits: { memory: "30Mi" } } } });
  const report = await cluster.swapReport("registrar:v2");
  const { findings, target } = report;
  expect(findings.map(({ code, subject }) => `${code} ${subject}`)).toEqual([
    "CSI105 DaemonSet storage/disk-node, container registrar",
  ]);
  await expectSaid(cluster);
  expect(target).toMatchObject({ swap: "registrar:v2", swapped: 1 });
  const wrong = await clusterOf({ set: { args: ["--kubelet-registration-path=/csi/csi.sock"] } });
  expect(renderClusterTable(await wrong.swapReport(""), { width: 100, colors: false }, "again")).toMatch(
    /: no new problem\.\n1 problem is there with either image:\n {7}again\n/,
  );
});

test("doctor reports drivers that a node-wide registrar has not found, and its pods that do not run", async () => {
  const pods = "/api/v1/namespaces/storage/pods";
  const codes = async (pod?: string, status: object = {}) => {
    const cluster = await clusterOf(DROPPED);
    if (pod) await cluster.setStatus(`${pods}/${pod}`, status);
    const { findings } = await cluster.report();
    return findings.filter(({ status }) => status === "problem").map(({ code }) => code);
  };
  expect(await codes()).toEqual(["CSI101"]);
  expect(await codes("disk-node-node-1", podStatus({ driver: crashing }))).toEqual(["CSI101", "CSI203"]);
  const alone = await clusterOf({ inPod: null });
  await alone.setStatus(`${pods}/disk-node-node-1`, podStatus({ driver: crashing }));
  await expectSaid(alone, /^CSI203 problem/);
  const cluster = await clusterOf({ hasNodeWide: true });
  const attachment = volumeAttachment("a", "gone.csi", "node-1");
  await cluster.create("/apis/storage.k8s.io/v1/volumeattachments", attachment);
  const needed = /^CSI207 problem: gone\.csi is needed, and the node-wide registrar has not/;
  expect(await said(cluster)).toContainEqual(expect.stringMatching(needed));
});

test("doctor reports a driver that a node-wide registrar has not registered", async () => {
  const cluster = await clusterOf(DROPPED);
  await cluster.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  const missed = /^CSI204 problem: disk.* -> see the log of the node-wide registrar on that node, and/;
  expect(await said(cluster)).toContainEqual(expect.stringMatching(missed));
  const alone = await clusterOf({ inPod: null });
  await alone.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  await expectSaid(alone, /^CSI204 problem: disk.* -> an admission policy removed its registrar: delete/);
});

test.each<readonly [inPod: Readonly<Record<string, unknown>> | null, expected: readonly RegExp[]]>([
  // A node-wide registrar may not have found it yet.
  [null, []],
  [{}, [/^CSI204 problem: disk/]],
])("a driver that has only just started, and whose registrar is %j in its pod", async (inPod, expected) => {
  const cluster = await clusterOf({ inPod });
  await cluster.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  const driver = { ...running, at: ago(0.5) };
  const status = podStatus({ [inPod === null ? "helper" : "registrar"]: running, driver });
  await cluster.setStatus("/api/v1/namespaces/storage/pods/disk-node-node-1", status);
  await expectSaid(cluster, ...expected);
});

test.each([
  [running, /^CSI204 problem: disk.* is not in CSINode: its pod runs, but kubelet has not registered it/],
  [crashing, /^CSI201 problem: disk.* has a registrar that keeps restarting: container old /],
])("a pod of an older template has its registrar under another name: %j", async (status, expected) => {
  const cluster = await clusterOf({ inPod: { name: "old" }, generations: ["2", "1"] });
  await cluster.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  const statuses = podStatus({ old: status, driver: running });
  await cluster.setStatus("/api/v1/namespaces/storage/pods/disk-node-node-1", statuses);
  await expectSaid(cluster, expected);
});

test("what a node-wide registrar has registered is not known without the Nodes", async () => {
  const cluster = await clusterOf(DROPPED);
  cluster.edit((stored) => stored.filter(({ path }) => !path.endsWith("/csinodes")));
  cluster.refuse(["nodes"], "no");
  const unsure = /^CSI204 unknown: \(every driver\) is possibly registered: .* the node has no CSINode/;
  expect(await said(cluster)).toContainEqual(expect.stringMatching(unsure));
});

test("if a DaemonSet could not be read, the advice has both cases", async () => {
  const unread = await clusterOf(DROPPED);
  await unread.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  unread.setFault({ read: /daemonsets/, page: 1, what: "broken" });
  const either =
    /^CSI204 problem: disk.* DaemonSets .* with a node-wide registrar, see .*; without one, delete/;
  expect(await said(unread)).toContainEqual(expect.stringMatching(either));
});

const term = (operator: string, ...values: readonly string[]) => ({ key: "tier", operator, values });

test.each<[selector: object, words: string]>([
  [{ matchLabels: { app: "x" } }, "app=x"],
  [{ matchLabels: { app: "x", part: "node" } }, "app=x,part=node"],
  [{ matchExpressions: [term("In", "a")] }, "tier in (a)"],
  [{ matchExpressions: [term("In", "b", "a")] }, "tier in (b,a)"],
  [{ matchExpressions: [term("NotIn", "a", "b")] }, "tier notin (a,b)"],
  [{ matchExpressions: [term("Exists")] }, "tier"],
  [{ matchExpressions: [term("DoesNotExist")] }, "!tier"],
  [
    { matchLabels: { app: "x" }, matchExpressions: [term("Exists"), term("NotIn", "a")] },
    "app=x,tier,tier notin (a)",
  ],
])("the pods of a DaemonSet with the selector %j are listed by %s", (selector, words) => {
  const set = daemonSet(DISK);
  expect(readRegistrarSet(...storedSet({ ...set, spec: { ...set.spec, selector } }))?.selector).toBe(words);
});
