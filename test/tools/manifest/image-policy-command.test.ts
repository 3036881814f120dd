import { parseAllDocuments } from "yaml";
import { runCommand } from "../../support/run-command";
import { expectUsageError } from "../support/usage-error";

const IMAGE = "--image=example.com/registrar:v1";
const DROPPING = ["--drop", "--include=policy"];
const TAINT = "--startup-taint={driver}/x";
const run = (...flags: readonly string[]) => runCommand("manifest", "--image-policy", ...flags);
const written = async (...flags: readonly string[]) => {
  const { status, stdout, stderr } = await run(IMAGE, ...flags);
  expect([status, stderr]).toEqual([0, ""]);
  return parseAllDocuments(stdout).map((document) => document.toJS());
};

test.each([
  [[], "registrar-image"],
  [["--name=x"], "x"],
])("%j writes a policy that never refuses a pod, and its binding: %s", async (flags, name) => {
  const objects = await written(...flags);
  expect(objects).toMatchObject([
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name },
      spec: { failurePolicy: "Ignore" },
    },
    { kind: "MutatingAdmissionPolicyBinding", metadata: { name }, spec: { policyName: name } },
  ]);
  expect(objects[0].spec.matchConstraints.namespaceSelector).toBeUndefined();
});

test.each([
  [[], "1.34", "v1beta1"],
  [DROPPING, "1.35", "v1beta1"],
  [[...DROPPING, TAINT], "v1.36.1", "v1"],
])("%j for Kubernetes %s: %s, and what must be turned on there", async (form, minor, version) => {
  const apiVersion = `admissionregistration.k8s.io/${version}`;
  const flags = [...form, `--kubernetes-version=${minor}`];
  const hint = `--runtime-config=${apiVersion}=true`;
  expect((await run(IMAGE, ...flags)).stdout.includes(hint)).toBe(version === "v1beta1");
  const objects = await written(...flags);
  expect(new Set(objects.map((object) => object.apiVersion))).toEqual(new Set([apiVersion]));
  expect(objects.map(({ spec }) => spec)).toEqual((await written(...form)).map(({ spec }) => spec));
});

test("ours may have the official one's name, with our version as its tag", async () => {
  const image = "example.com/csi-node-driver-registrar:v0.1.0";
  expect((await run(`--image=${image}`)).stdout).toContain(`value: '${image}'`);
});

test("each flag reaches the policy", async () => {
  const [policy] = await written(
    ...["--name=mine", "--namespace=a", "--namespace=b", "--namespace-label=team=storage"],
    ...["--match-image=a.b", "--keep=memory,cpu", "--arg=--termination-log=/it's\\\"\n"],
  );
  expect(policy.metadata.name).toBe("mine");
  expect(policy.spec.matchConstraints.namespaceSelector.matchExpressions).toEqual([
    { key: "kubernetes.io/metadata.name", operator: "In", values: ["a", "b"] },
    { key: "team", operator: "In", values: ["storage"] },
  ]);
  expect(policy.spec.matchConditions[0].expression).toContain("|a\\\\.b)");
  const [{ jsonPatch }] = policy.spec.mutations;
  expect(jsonPatch.expression).not.toMatch(/memory|cpu/);
  expect(jsonPatch.expression).toContain("timeoutSeconds");
  expect(policy.spec.variables.at(-1).expression).toContain(String.raw`['--termination-log=/it\'s\\"\n']`);
});

test("--drop has two files: the registrar of the whole node, and the policy for the same folder of kubelet's", async () => {
  const flags = ["--drop", "--distribution=microk8s", "--http-port=1234", "--startup-taint={driver}/x"];
  const objects = await written(...flags, "--include=daemonset");
  expect(objects.map(({ kind }) => kind)).toEqual([
    ...["ServiceAccount", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ClusterRole"],
    ...["ClusterRoleBinding", "DaemonSet"],
  ]);
  const { metadata, spec } = objects[5];
  expect(metadata).toMatchObject({ name: "csi-registrar", namespace: "kube-system" });
  const root = "/var/snap/microk8s/common/var/lib/kubelet";
  const { args } = spec.template.spec.containers[0];
  expect(args).toContain(`--kubelet-registration-path=${root}/plugins/*/csi.sock`);
  expect(args).toContain("--http-endpoint=:1234");
  const policy = await written(...flags, "--include=policy");
  const kinds = policy.map(({ kind }) => kind).join(" ");
  expect(kinds).toBe("MutatingAdmissionPolicy MutatingAdmissionPolicyBinding");
  expect(JSON.stringify(policy)).toContain(`${root}/plugins/[^/*]+/csi[.]sock`);
});

test("--nodes: the names, in their order, for the policy and the DaemonSet", async () => {
  const flag = "--nodes=node/b\nnode/a.example.com\n\nb";
  const [{ spec }] = await written(flag);
  expect(spec.variables[0]).toEqual({ name: "nodes", expression: '[\n "a.example.com",\n "b"\n]' });
  expect(await written(flag)).toEqual(await written("--nodes=b,a.example.com"));
  const [daemonSet] = await written(flag, "--drop", "--include=daemonset");
  const { nodeAffinity } = daemonSet.spec.template.spec.affinity;
  const termOf = (node: string) => ({
    matchFields: [{ key: "metadata.name", operator: "In", values: [node] }],
  });
  expect(nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms).toEqual(
    ["a.example.com", "b"].map(termOf),
  );
});

test.each<[words: string, complaint: RegExp]>([
  ["--image=registrar", /--image "registrar" has no tag and no digest/],
  [
    "--image=rancher/mirrored-sig-storage-csi-node-driver-registrar:v2.12.0",
    /is the official registrar's im/,
  ],
  ["--namespace=a_b", /--namespace "a_b" must be/],
  ["--namespace-label=a=b=c", /is not a label: give KEY or KEY=VALUE/],
  ["--nodes=,", /--nodes "," has no name of a node/],
  ["--match-image=mirrored-sig-storage-csi-attacher", /"[a-z-]+" is another sidecar/],
  [
    "--kubernetes-version=1.33",
    /--kubernetes-version: Kubernetes 1.33 is not supported: 1.34 is the oldest$/m,
  ],
  ["--kubernetes-version=2", /--kubernetes-version: "2" is not a version of Kubernetes/],
  ["--drop", /--drop has two files: .*--include=daemonset, then that of --include=policy;/],
  ["--include=daemonset", /--include needs --drop beside it/],
  ["--drop --include=daemonset,policy", /"daemonset,policy" is not one of .*; give one of them$/m],
  ...["0", "65536", "host:a/b", "host:a/b=0"].map((port): [string, RegExp] => [
    `--metrics-port=${port}`,
    /is not PORT, from 1 to 65535, or host:NAMESPACE\/NAME=PORT/,
  ]),
  ["--metrics-port=1 --metrics-port=2", /"a pod's own network" is given twice; give it one value/],
  ["--metrics-port=host:a/b=1 --metrics-port=host:a/c=1", /one port to two workloads on the host's/],
  ["--arg=--http-endpoint=:1", /has a flag of its own: give --metrics-port/],
  ["--metrics-port=1 --drop", /give --metrics-port or --drop, not both/],
  ["--http-port=1", /--http-port needs --drop beside it/],
  ["--startup-taint=a/b", /write \{driver\}/],
  ["--drop=false -arg -v 2", /: write --arg=-v=2$/m],
  [`--arg=--v=2 --arg --timeout=2s ${IMAGE}`, /: write --arg=--timeout=2s$/m],
  ["--arg=plain", /--arg="plain" is not a flag: write --arg=--FLAG=VALUE/],
  ["--arg=--help", /would print the help/],
  ["--arg=--on-registration-failur=retry", /did you mean --on-registration-failure\?/],
  ["--arg=--timeout=0s", /no registrar starts with these --arg: timeout must be more than 0/],
  ["--arg=--node-condition-delay=-1s", /node-condition-delay must not be negative/],
  ["--arg=--v=1 --arg=-v=2", /--arg gives --v more than once/],
  ["--arg=--csi-address=/x", /cannot be set for every driver/],
  ["--arg=--node-condition=x", /has a flag of its own: give --node-condition/],
  ["--arg=--health-port=1", /has no effect, or is deprecated/],
])("%s is a usage error of one line, and writes nothing", async (words, complaint) => {
  const line = words.includes("--image=") ? words : `${IMAGE} ${words}`;
  await expectUsageError(["manifest", "--image-policy", ...line.split(" ")], complaint);
});

test.each(["-image-policy", "--image-policy=1"])("%s is the same form", async (flag) => {
  expect((await runCommand("manifest", flag, IMAGE)).stdout).toBe((await run(IMAGE)).stdout);
});
