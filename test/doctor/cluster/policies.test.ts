import { renderClusterSwapTable } from "../../../src/doctor/cluster/table";
import { ago, expectSaid, said } from "./memory-cluster";
import { clusterOf, OFFICIAL, OURS, type World } from "./policy-cluster";
import { DISK } from "./sick-cluster";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SWAP = ["--image-policy", `--image=${OURS}`];
const DROP = [...SWAP, "--drop", "--include=policy"];

const KYVERNO = "--policy-engine=kyverno";

const saidIn = async (world: World) =>
  (await (await clusterOf(world)).report()).findings
    .filter(({ code }) => ["CSI215", "CSI216"].includes(code))
    .map(({ code, status, text, fix }) => `${code} ${status}: ${text} -> ${fix}`);

const OLD = { podAt: ago(30) };

/** Policies with other metadata than the command writes. */
const policies = (change: (metadata: object) => object): World => ({
  policyObjects: (all) => all.map((one) => ({ ...one, metadata: { ...change(one.metadata) } })),
});

test.each<readonly [what: string, expected: RegExp | undefined, World]>([
  ["no policy", undefined, {}],
  ["a swapped pod", undefined, { flags: SWAP, inPod: { image: OURS } }],
  [
    "a pod older than the policy",
    /^CSI215 warning: has registry\S+ in 1 pod, older than MutatingAdmissionPolicy registrar-image -> restart them: kubectl -n storage rollout restart daemonset\/disk-node$/,
    { flags: SWAP, ...OLD },
  ],
  [
    "a pod with the image of an earlier policy",
    /^CSI215 warning: has registrar:v0 in 1 pod, older/,
    { flags: SWAP, ...OLD, inPod: { image: "registrar:v0" } },
  ],
  ["a newer pod", /^CSI215 warning: .* made after MutatingAdmissionPolicy reg/, { flags: SWAP }],
  [
    "a policy that was written again since",
    /older than/,
    { flags: SWAP, ...policies((all) => ({ ...all, managedFields: [{ time: ago(5) }] })) },
  ],
  ["another name", /than MutatingAdmissionPolicy mine/, { flags: [...SWAP, "--name=mine"], ...OLD }],
  [
    "a policy of somebody else",
    undefined,
    { flags: SWAP, ...OLD, ...policies(() => ({ name: "registrar-image" })) },
  ],
  [
    "a policy without a binding",
    /^CSI215 warning: has no MutatingAdmissionPolicyBinding: it changes no pod/,
    { flags: SWAP, ...OLD, policyObjects: (all) => all.slice(0, 1) },
  ],
  ["namespace", /^CSI215 ok: .* namespace storage -> null$/, { flags: [...SWAP, "--namespace=other"] }],
  ["another label", /^CSI215 ok: .* does not select/, { flags: [...SWAP, "--namespace-label=team=storage"] }],
  [
    "a namespace with the label",
    /older than/,
    { flags: [...SWAP, "--namespace-label=team"], ...OLD, namespaceLabels: { team: "x" } },
  ],
  [
    "pods that opt out",
    /^CSI215 ok: .* by their labels its pods opt out of/,
    { flags: SWAP, setLabels: { "registrar-image-policy": "ignore" } },
  ],
  ["Windows", /^CSI215 ok: .* for Windows/, { flags: SWAP, set: { args: ["--csi-address=C:\\x.sock"] } }],
  [
    "an image of another name",
    /^CSI215 warning: .* does not know the image's name -> write the policy with --match-image/,
    { flags: SWAP, set: { image: "corp/proxy:v2.9.0" } },
  ],
  [
    "an image that the policy knows by --match-image",
    /older than/,
    {
      flags: [...SWAP, "--match-image=other", "--match-image=proxy"],
      ...OLD,
      set: { image: "corp/proxy:v2.9.0" },
    },
  ],
  [
    "a shell",
    /^CSI215 warning: .* it runs sh, which/,
    { flags: SWAP, set: { command: ["sh", "-c", "exec csi-node-driver-registrar"] } },
  ],
  ["a policy for other nodes", undefined, { flags: [...SWAP, "--nodes=node-2"], ...OLD }],
  [
    "a policy for this node, too",
    /older than .* -> delete them one by one, and not the other nodes': kubectl -n storage delete pod disk-node-\S+$/,
    { flags: [...SWAP, "--nodes=node-2,node-1"], ...OLD },
  ],
  ["this registrar in the DaemonSet", undefined, { flags: SWAP, ...OLD, set: { image: OURS } }],
  ["a pod older than --drop", /older than MutatingAdmissionPolicy registrar-drop/, { flags: DROP, ...OLD }],
  [
    "a driver that the node-wide registrar cannot find",
    /^CSI215 warning: .* would not find its driver's socket/,
    { flags: DROP, set: { args: ["--kubelet-registration-path=/var/lib/kubelet/plugins/a/b/csi.sock"] } },
  ],
  [
    "a registrar with an AppArmor annotation",
    /^CSI215 ok: .* an annotation has its AppArmor profile/,
    {
      flags: DROP,
      setAnnotations: { "container.apparmor.security.beta.kubernetes.io/registrar": "unconfined" },
    },
  ],
  ["a dropped registrar", /^CSI216 problem: .* -> apply the Dae/, { flags: DROP, inPod: null }],
  ["the same after the policy was deleted", /^CSI216 problem/, { inPod: null }],
  ["a dropped registrar, and one for the node", undefined, { flags: DROP, inPod: null, hasNodeWide: true }],
  ["a pod that Kyverno swapped", undefined, { flags: [...SWAP, KYVERNO], inPod: { image: OURS } }],
  [
    "a pod older than Kyverno's policy",
    /^CSI215 warning: has registry\S+ in 1 pod, older than Kyverno's MutatingPolicy registrar-image -> restart/,
    { flags: [...SWAP, KYVERNO], ...OLD },
  ],
  [
    "a pod that Kyverno missed; its status was written since",
    /^CSI215 warning: .* made after Kyverno's MutatingPolicy registrar-image: Kyverno did not have it .* its webhooks/,
    {
      flags: [...SWAP, KYVERNO],
      ...policies((all) => ({ ...all, managedFields: [{ time: ago(5), subresource: "status" }] })),
    },
  ],
  [
    "a namespace that Kyverno's policy does not select",
    /^CSI215 ok: .*Kyverno's MutatingPolicy registrar-image does not select namespace storage/,
    { flags: [...SWAP, KYVERNO, "--namespace=other"] },
  ],
  ["older than its --drop", /Kyverno's MutatingPolicy registrar-drop/, { flags: [...DROP, KYVERNO], ...OLD }],
  [
    "a driver that the node-wide registrar cannot find, by Kyverno's --drop",
    /^CSI215 warning: .* would not find its driver's socket, so Kyverno's/,
    {
      flags: [...DROP, KYVERNO],
      set: { args: ["--kubelet-registration-path=/var/lib/kubelet/plugins/a/b/csi.sock"] },
    },
  ],
  ["a pod of a template without a registrar", undefined, { inPod: null, generations: ["2", "1"] }],
])("%s", async (_what, expected, world) => {
  expect(await saidIn(world)).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
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
      metrics: [{ endpoint: null, port: null, reach: "none", count: 1 }],
    },
  ]);
  const dropped = await clusterOf({ flags: DROP, inPod: null, hasNodeWide: true });
  expect((await dropped.report()).registrars.map(({ pods }) => pods[0]?.image)).toEqual([
    "registrar:v1",
    null,
  ]);
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
  for (const version of versions)
    for (const resource of ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings"])
      cluster.refusals.set(`/apis/admissionregistration.k8s.io/${version}/${resource}`, {
        ...{ kind: "not-found", message: "not found" },
      });
  expect((await cluster.report()).registrars).toMatchObject([{ changed: 1, pods: [{ program: "ours" }] }]);
  expect(await said(cluster)).toEqual([]);
});

test("policies that may not be listed are unknown; an API server without them says nothing", async () => {
  const cluster = await clusterOf({});
  for (const resource of ["mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingpolicies"])
    cluster.refusals.set(resource, { kind: "not-found", message: "not found" });
  await expectSaid(cluster);
  // Without rights the API server says so also of what it does not have; then it lacks the group.
  cluster.refusals.set("mutatingpolicies", { kind: "forbidden", message: "you may not" });
  await expectSaid(cluster, /^CSI212 unknown: mutatingpolicies may not/);
  cluster.refusals.set("v1", { kind: "not-found", message: "404 page not found" });
  await expectSaid(cluster);
  cluster.refusals.delete("v1");
  cluster.refusals.delete("mutatingpolicies");
  cluster.refusals.set("mutatingadmissionpolicies", { kind: "forbidden", message: "you may not" });
  await expectSaid(cluster, /^CSI212 unknown: mutatingadmissionpolicies may not be listed by you/);
});

describe("the rights of a pod's own account (CSI116)", () => {
  const token = { name: "kube-api-access-x", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
  const world = (mounts: readonly object[]): World => ({
    inPod: {
      image: "registrar:v1",
      args: [
        "--csi-address=/csi/csi.sock",
        `--kubelet-registration-path=/var/lib/kubelet/plugins/${DISK}/csi.sock`,
        "--remove-startup-taint=disk.csi.example.com/agent-not-ready",
      ],
      env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
      volumeMounts: [
        { name: "plugin", mountPath: "/csi" },
        { name: "registration", mountPath: "/registration" },
        ...mounts,
      ],
    },
  });
  const rules = [
    { apiGroups: [""], resources: ["nodes"], verbs: ["get", "watch", "patch"] },
    { apiGroups: ["storage.k8s.io"], resources: ["csinodes"], verbs: ["get"] },
  ];
  const bind = async (
    subject: object,
    granted: readonly object[] = rules,
    mounts: readonly object[] = [token],
  ) => {
    const cluster = await clusterOf(world(mounts));
    await cluster.create(`${RBAC}/clusterroles`, {
      metadata: { name: "r" },
      rules: granted,
      aggregationRule: {},
    });
    const roleRef = { kind: "ClusterRole", name: "r" };
    await cluster.create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "b" },
      roleRef,
      subjects: [subject],
    });
    return (await said(cluster)).filter((line) => line.startsWith("CSI116"));
  };
  const account = { kind: "ServiceAccount", namespace: "storage", name: "default" };

  test.each([
    ["the account", account],
    ["its user", { kind: "User", name: "system:serviceaccount:storage:default" }],
    ["its namespace's group", { kind: "Group", name: "system:serviceaccounts:storage" }],
    ["all accounts", { kind: "Group", name: "system:serviceaccounts" }],
  ])("bound to %s: nothing is said", async (_what, subject) => {
    expect(await bind(subject)).toEqual([]);
  });

  test("bound to another, without a verb, without a token", async () => {
    expect(await bind({ ...account, namespace: "other" })).toEqual([
      expect.stringMatching(/^CSI116 problem: .* lacks rights: .* storage\/default has them -> bind/),
    ]);
    expect(await bind(account, rules.slice(0, 1))).toEqual([expect.stringMatching(/-> bind .*csinodes/)]);
    expect(await bind(account, rules, [])).toEqual([
      expect.stringMatching(/^CSI116 problem: .* has no token/),
    ]);
  });
});

test("--swap: what it would change in the DaemonSets and on their nodes, and nothing else", async () => {
  const cluster = await clusterOf({
    architecture: "s390x",
    set: { resources: { limits: { memory: "30Mi" } } },
  });
  const report = await cluster.swapReport("registrar:v2");
  const { findings, target } = report;
  expect(renderClusterSwapTable(report, { width: 100, colors: false })).toContain(" on 1 node: node-1\n");
  expect(findings.map(({ code, subject, nodes }) => [code, subject, ...nodes].join(" "))).toEqual([
    "CSI105 DaemonSet storage/disk-node, container registrar",
    "CSI217 DaemonSet storage/disk-node, container registrar node-1",
  ]);
  await expectSaid(cluster);
  expect(target).toMatchObject({ swap: "registrar:v2", swapped: 1 });
  const [, onNode] = findings;
  expect(onNode?.objects).toMatchObject([{ name: "disk-node", container: "registrar" }]);
  const wrong = await clusterOf({ set: { resources: { limits: { memory: "lots" } } } });
  expect(renderClusterSwapTable(await wrong.swapReport(""), { width: 100, colors: false })).toMatch(
    /: that adds no problem\.\n1 problem is there with either image: registrar doctor --cluster\nNobody can scrape/,
  );
  const done = await clusterOf({ flags: SWAP, architecture: "s390x", inPod: { image: OURS } });
  expect((await done.swapReport("")).findings.map(({ code }) => code)).not.toContain("CSI217");
});
