import { renderClusterTable } from "../../../../src/tools/doctor/cluster/table";
import { podStatus, volumeAttachment } from "../../../support/cluster-objects";
import { ago, expectSaid, running, said } from "./memory-cluster";
import { clusterOf, OFFICIAL, OURS, type World } from "./policy-cluster";
import { DISK } from "./sick-cluster";

const SWAP = ["--image-policy", `--image=${OURS}`];
const DROP = [...SWAP, "--drop", "--include=policy"];
const PENDING =
  /^CSI215 warning: has registry\S+ in 1 pod, made before MutatingAdmissionPolicy registrar-image worked -> restart them: kubectl --context=east -n storage rollout restart daemonset disk-node; if they stay so, see the API server's log$/;
const DEEP = { args: ["--kubelet-registration-path=/var/lib/kubelet/plugins/a/b/csi.sock"] };

const crashing = { kind: "crash-loop", restarts: 9, last: { at: ago(1), exitCode: 1 } } as const;
const CRASHING = podStatus({ registrar: crashing, driver: running });
const pulling = { kind: "waiting", reason: "ImagePullBackOff", message: "no such image" } as const;

const saidIn = async (world: World) =>
  (await (await clusterOf(world)).report({ context: "east" })).findings
    .filter(({ code }) => ["CSI215", "CSI216"].includes(code))
    .map(({ code, status, text, fix }) => `${code} ${status}: ${text} -> ${fix}`);

test.each<readonly [what: string, expected: RegExp | undefined, World]>([
  ["no policy", undefined, {}],
  ["a swapped pod", undefined, { flags: SWAP, inPod: { image: OURS } }],
  ["a pod that the policy did not change", PENDING, { flags: SWAP }],
  ["an earlier policy's image", /has registrar:v0 in/, { flags: SWAP, inPod: { image: "registrar:v0" } }],
  ["another name", /made before MutatingAdmissionPolicy mine worked/, { flags: [...SWAP, "--name=mine"] }],
  [
    "a policy of somebody else",
    undefined,
    { flags: SWAP, policyObjects: (all) => all.map((one) => ({ ...one, metadata: { name: "x" } })) },
  ],
  ["no binding", /^CSI215 warning: has no Mut/, { flags: SWAP, policyObjects: (all) => all.slice(0, 1) }],
  ["namespace", /^CSI215 ok: .* is not selected -> null$/, { flags: [...SWAP, "--namespace=other"] }],
  [
    "a namespace by another label, which is not read",
    undefined,
    { flags: [...SWAP, "--namespace-label=team=storage"] },
  ],
  ["opt-out", /^CSI215 ok: .* opt out/, { flags: SWAP, setLabels: { "registrar-image-policy": "ignore" } }],
  ["Windows", /^CSI215 ok: .* for Windows/, { flags: SWAP, set: { args: ["--csi-address=C:\\x.sock"] } }],
  [
    "an image of another name",
    /^CSI215 warning: .* does not know the image's name -> write the policy with --match-image/,
    { flags: SWAP, set: { image: "corp/proxy:v2.9.0" } },
  ],
  [
    "an image that the policy knows by --match-image",
    /made before/,
    { flags: [...SWAP, "--match-image=other", "--match-image=proxy"], set: { image: "corp/proxy:v2.9.0" } },
  ],
  [
    "a shell",
    /^CSI215 warning: .* because it runs sh, which/,
    { flags: SWAP, set: { command: ["sh", "-c", "exec csi-node-driver-registrar"] } },
  ],
  [
    "a policy for nodes that are not there",
    /^CSI215 warning: names nodes that are not there: node-2, node-3 -> correct --nodes/,
    { flags: [...SWAP, "--nodes=node-2,node-3"] },
  ],
  [
    "a policy for this node, too",
    / worked -> delete them one by one, and not the other nodes': kubectl --context=east -n storage delete pod disk-node-\S+;/,
    { flags: [...SWAP, "--nodes=node-1"] },
  ],
  ["this registrar in the DaemonSet", undefined, { flags: SWAP, set: { image: OURS } }],
  [
    "a pod older than --drop",
    /made before MutatingAdmissionPolicy registrar-drop worked -> apply the DaemonSet of .* then restart/,
    { flags: DROP },
  ],
  ["a driver's socket elsewhere", /^CSI215 warning: .* would not find/, { flags: DROP, set: DEEP }],
  ["a dropped registrar", /^CSI216 problem: .* -> apply the Dae/, { flags: DROP, inPod: null }],
  ["the same after the policy was deleted", /^CSI216 problem/, { inPod: null }],
  ["the same on a node that is away", undefined, { inOthers: [null] }],
  ["a dropped registrar, and one for the node", undefined, { flags: DROP, inPod: null, hasNodeWide: true }],
  [
    "a dropped registrar after the policy was deleted, and one for the node",
    /^CSI215 warning: has no registrar in 1 pod, and no policy takes it out now: .* -> restart them before/,
    { inPod: null, hasNodeWide: true },
  ],
  ["a pod of a template without a registrar", undefined, { inPod: null, generations: ["2", "1"] }],
])("%s", async (_what, expected, world) => {
  expect(await saidIn(world)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
});

test.each<readonly [what: string, advice: readonly RegExp[], pods: Pick<World, "inPod" | "status">]>([
  [
    "an image that cannot be pulled",
    [
      /^CSI202 .* -> see its events: kubectl [^;]*$/,
      /^CSI215 .* worked -> leave them until .*; not working: 1 pod \(storage\/disk-node-node-1\)$/,
    ],
    { inPod: { image: OURS }, status: podStatus({ registrar: pulling, driver: running }) },
  ],
  ["an image that ends at once", [/^CSI215 .* -> leave th/], { inPod: { image: OURS }, status: CRASHING }],
  [
    "a driver that cannot be pulled",
    [/^CSI202 .* -> see its events: kubectl [^;]*$/, /^CSI215 .* -> restart them/],
    { inPod: { image: OURS }, status: podStatus({ registrar: running, driver: pulling }) },
  ],
  ["none and no other registrar", [/^CSI215 .* leave them until/, /^CSI216 /], { inPod: null }],
])("a changed pod with %s, beside one that is not changed", async (_what, advice, pods) => {
  const flags = pods.inPod === null ? DROP : SWAP;
  const all = await said(await clusterOf({ flags, inOthers: [{}], ...pods }));
  const own = all.filter((one) => /^CSI2(?:02|15|16)/.test(one));
  expect(own).toEqual(advice.map((pattern) => expect.stringMatching(pattern)));
});

test("each registrar with its image in the DaemonSet and in its pods", async () => {
  const cluster = await clusterOf({ flags: SWAP, inPod: { image: OURS } });
  expect((await cluster.report()).registrars).toEqual([
    {
      daemonSet: "storage/disk-node",
      container: "registrar",
      driver: DISK,
      image: OFFICIAL,
      program: "official",
      version: "v2.17.0",
      pods: [{ image: OURS, program: "ours", version: "v1", count: 1 }],
      changed: 1,
    },
  ]);
  const dropped = await clusterOf({ flags: DROP, inPod: null, hasNodeWide: true });
  const { registrars } = await dropped.report();
  expect(registrars.map(({ pods }) => pods?.[0]?.image)).toEqual(["registrar:v1", null]);
});

test.each<readonly [changed: number | null, World]>([
  [null, {}],
  [null, { flags: SWAP, set: { image: OURS } }],
  [null, { flags: [...SWAP, "--namespace=other"] }],
  [null, { flags: [...SWAP, "--nodes=node-2"] }],
  [0, { flags: [...SWAP, "--nodes=node-1"] }],
  [1, { flags: [...SWAP, "--nodes=node-1"], inPod: { image: OURS } }],
  [0, { flags: SWAP, inPod: { image: "registrar:v0" } }],
  [1, { flags: DROP, inPod: null, hasNodeWide: true }],
])("%s of its pods have what the policy gives: %j", async (changed, world) => {
  const { registrars } = await (await clusterOf(world)).report();
  expect(registrars.find(({ daemonSet }) => daemonSet === "storage/disk-node")).toMatchObject({ changed });
});

test("a swapped pod is judged as this registrar, the DaemonSet as the official one", async () => {
  const limits = { resources: { limits: { memory: "30Mi" } } };
  const cluster = await clusterOf({ flags: SWAP, set: limits, inPod: { image: OURS } });
  await expectSaid(cluster, /^CSI105 problem: DaemonSet storage\/disk/);
  expect(await said(await clusterOf({ set: limits }))).toEqual([]);
});

test.each([["v1"], ["v1", "v1beta1"]])("policies of an API server without %s %s", async (...versions) => {
  const cluster = await clusterOf({ flags: SWAP, inPod: { image: OURS } });
  const absent = { kind: "not-found", message: "not found" } as const;
  for (const version of versions)
    for (const resource of ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"])
      cluster.refusals.set(`/apis/admissionregistration.k8s.io/${version}/${resource}`, absent);
  expect((await cluster.report()).registrars).toMatchObject([{ changed: 1, pods: [{ program: "ours" }] }]);
  expect(await said(cluster)).toEqual([]);
});

test("policies that may not be listed are unknown; an API server without them says nothing", async () => {
  const cluster = await clusterOf({});
  const policies = ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"];
  for (const resource of policies)
    cluster.refusals.set(resource, { kind: "not-found", message: "not found" });
  await expectSaid(cluster);
  // Without rights the API server says so also of what it does not have; then it lacks the group.
  cluster.refusals.set("mutatingadmissionpolicies", { kind: "forbidden", message: "no" });
  await expectSaid(cluster, /^CSI212 unknown: mutatingadmissionpolicies cannot be listed, you are not/);
  cluster.refusals.set("v1", { kind: "not-found", message: "404 page not found" });
  await expectSaid(cluster);
});

test("--swap: what it would change in the DaemonSets and on their nodes, and nothing else", async () => {
  const cluster = await clusterOf({
    architecture: "s390x",
    set: { resources: { limits: { memory: "30Mi" } } },
  });
  const report = await cluster.swapReport("registrar:v2");
  const { findings, target } = report;
  expect(renderClusterTable(report, { width: 100, colors: false })).toContain(" on 1 node: node-1\n");
  expect(findings.map(({ code, subject, nodes }) => [code, subject, ...nodes].join(" "))).toEqual([
    "CSI105 DaemonSet storage/disk-node, container registrar",
    "CSI217 DaemonSet storage/disk-node, container registrar node-1",
  ]);
  await expectSaid(cluster);
  expect(target).toMatchObject({ swap: "registrar:v2", swapped: 1 });
  const [, onNode] = findings;
  expect(onNode?.objects).toMatchObject([{ name: "disk-node", container: "registrar" }]);
  const wrong = await clusterOf({ set: { resources: { limits: { memory: "lots" } } } });
  expect(renderClusterTable(await wrong.swapReport(""), { width: 100, colors: false })).toMatch(
    /: that adds no problem\.\n1 problem is there with either image: registrar doctor --cluster\n/,
  );
  const done = await clusterOf({ flags: SWAP, architecture: "s390x", inPod: { image: OURS } });
  expect((await done.swapReport("")).findings.map(({ code }) => code)).not.toContain("CSI217");
});

test("the registrar of the whole node: drivers that it has not found, and pods of its own that do not run", async () => {
  const pods = "/api/v1/namespaces/storage/pods";
  const codes = async (pod?: string, status: object = {}) => {
    const cluster = await clusterOf({ flags: DROP, inPod: null, hasNodeWide: true });
    if (pod) await cluster.setStatus(`${pods}/${pod}`, status);
    const { findings } = await cluster.report();
    return findings.filter(({ status }) => status === "problem").map(({ code }) => code);
  };
  expect(await codes()).toEqual(["CSI101"]);
  expect(await codes("disk-node-node-1", podStatus({ driver: crashing }))).toEqual(["CSI101", "CSI203"]);
  for (const one of [crashing, pulling])
    expect(await codes("csi-registrar-node-1", podStatus({ registrar: one }))).toContain("CSI216");
  const alone = await clusterOf({ inPod: null });
  await alone.setStatus(`${pods}/disk-node-node-1`, podStatus({ driver: crashing }));
  await expectSaid(alone, /^CSI203 problem/);
  const cluster = await clusterOf({ hasNodeWide: true });
  const attachment = volumeAttachment("a", "gone.csi", "node-1");
  await cluster.create("/apis/storage.k8s.io/v1/volumeattachments", attachment);
  const needed = /^CSI207 problem: gone\.csi is needed, and the node-wide registrar has not/;
  expect(await said(cluster)).toContainEqual(expect.stringMatching(needed));
});

test("a driver that the registrar of the whole node has not registered", async () => {
  const cluster = await clusterOf({ flags: DROP, inPod: null, hasNodeWide: true });
  await cluster.setSpec("/apis/storage.k8s.io/v1/csinodes/node-1", { drivers: [] });
  const missed = /^CSI204 problem: disk.* -> see the log of the node-wide registrar there, and/;
  expect(await said(cluster)).toContainEqual(expect.stringMatching(missed));
});
