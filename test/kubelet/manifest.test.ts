import { spawnSync } from "node:child_process";
import { KUBELET_ROOTS } from "../../src/host-path/kubelet-roots";
import { makeManifests } from "../../src/tools/manifest/objects";
import type { ManifestOptions } from "../../src/tools/manifest/options";
import { filesBelow, readText } from "../docs/markdown";
import { programPath } from "./support/build";
import { newestVersion } from "./support/versions";

/** What the API server says of each object of its own kinds, by its strict decoding and its validation. */
function judge(yaml: string): readonly { readonly kind: string; readonly errors: readonly string[] }[] {
  const { status, stdout, stderr } = spawnSync(programPath("manifestcheck", newestVersion), {
    input: yaml,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return (stdout.match(/.+/g) ?? []).map((line) => JSON.parse(line));
}

const taken = (...kinds: readonly string[]) => kinds.map((kind) => ({ kind, errors: [] }));

test.each<readonly [string, Partial<ManifestOptions>]>([
  ["as it is by default", {}],
  ["at another port", { httpPort: 1 }],
  ["at its shortest", { driverName: "x", name: "y", namespace: "z", driverArg: [] }],
  ["at its longest", { driverName: "x".repeat(63), namespace: "n".repeat(63) }],
  ["with a name of many parts", { driverName: "a.b-c.d0.example.com" }],
  ...Object.entries(KUBELET_ROOTS).map(([name, kubeletRoot]) => [`on ${name}`, { kubeletRoot }] as const),
])("the API server takes what `registrar manifest` writes: %s", (_, options) => {
  const required = { driverName: "x.csi.example.com", image: "registrar:v1", driverImage: "x:v1" };
  expect(judge(makeManifests({ ...required, ...options }))).toEqual(taken("DaemonSet"));
});

/** All except the one whose pod gets its namespace from kubectl. */
const EXAMPLES = filesBelow("examples", ".yaml").filter((path) => path !== "examples/driver/deploy.yaml");
test.each(EXAMPLES)("Kubernetes' validation accepts %s", (path) => {
  expect(judge(readText(path)).flatMap(({ errors }) => errors)).toEqual([]);
});

test("Kubernetes' validation names what it refuses", () => {
  const pod = (more: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: z}\nspec: {containers: [{name: a, image: b${more}}]}\n`;
  expect(judge([pod(""), pod(", imag: c"), pod(", ports: [{containerPort: 0}]")].join("---\n"))).toEqual([
    ...taken("Pod"),
    { kind: "Pod", errors: [expect.stringContaining('unknown field "spec.containers[0].imag"')] },
    { kind: "Pod", errors: [expect.stringContaining("spec.containers[0].ports[0].containerPort")] },
  ]);
});
