import { createHash } from "node:crypto";
import { runCommand } from "../../support/run-command";
import { parseAll } from "../../support/yaml";

const IMAGE = "--image=example.com/registrar:v1";
const run = (...flags: readonly string[]) => runCommand("manifest", "--image-policy", ...flags);
const written = async (...flags: readonly string[]) => {
  const { status, stdout, stderr } = await run(...flags);
  expect([status, stderr]).toEqual([0, ""]);
  return parseAll(stdout);
};

test.each([
  [[IMAGE], "registrar-image"],
  [["--drop"], "registrar-drop"],
  [[IMAGE, "--name=x"], "x"],
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
  [[IMAGE], "1.34", "v1beta1"],
  [["--drop"], "1.35", "v1beta1"],
  [["--drop"], "v1.36.1", "v1"],
])("%j for Kubernetes %s: %s, and what must be turned on there", async (form, minor, version) => {
  const apiVersion = `admissionregistration.k8s.io/${version}`;
  const flags = [...form, `--kubernetes-version=${minor}`];
  const hint = `--runtime-config=${apiVersion}=true`;
  expect((await run(...flags)).stdout.includes(hint)).toBe(version === "v1beta1");
  const objects = await written(...flags);
  expect(new Set(objects.map((object) => object.apiVersion))).toEqual(new Set([apiVersion]));
  expect(objects.map(({ spec }) => spec)).toEqual((await written(...form)).map(({ spec }) => spec));
});

test("our image may have the official one's name, with our version as its tag", async () => {
  const image = "example.com/csi-node-driver-registrar:v0.1.0";
  expect((await run(`--image=${image}`)).stdout).toContain(`value: '${image}'`);
});

// Nothing else but an API server evaluates CEL.
test.each([
  [
    [IMAGE, "--arg=--logging-format=json", "--metrics-port=1", "--metrics-port=host:a/b=2", "--nodes=n"],
    "c954ef6a3a29ffb4",
  ],
  [["--drop"], "b2aae1a933afbb75"],
])(
  "%j writes what test/api-server has tried: if not, try it there, and write the new sum",
  async (flags, sum) => {
    const expressions = JSON.stringify(await written(...flags));
    expect(createHash("sha256").update(expressions).digest("hex").slice(0, 16)).toBe(sum);
  },
);

test("--nodes: the names, in their order, for the policy and the DaemonSet of the whole node", async () => {
  const flag = "--nodes=node/b\nnode/a.example.com\n\nb\n";
  const [{ spec }] = await written(IMAGE, flag);
  expect(spec.variables[0]).toEqual({ name: "nodes", expression: '[\n "a.example.com",\n "b"\n]' });
  expect(await written(IMAGE, flag)).toEqual(await written(IMAGE, "--nodes=b,a.example.com"));
  const { stdout } = await runCommand("manifest", "--node-wide", IMAGE, flag);
  const { nodeAffinity } = parseAll(stdout)[0].spec.template.spec.affinity;
  const termOf = (node: string) => ({
    matchFields: [{ key: "metadata.name", operator: "In", values: [node] }],
  });
  expect(nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms).toEqual(
    ["a.example.com", "b"].map(termOf),
  );
});

test.each(["-image-policy", "--image-policy=1"])("%s is the same form", async (flag) => {
  expect((await runCommand("manifest", flag, IMAGE)).stdout).toBe((await run(IMAGE)).stdout);
});
