import { invalidCsiNodeDriver, invalidLabels } from "../../src/kubelet-rules/api-refusals";
import {
  isExtendedResource,
  isLabel,
  isQualifiedName,
  isSubdomain,
} from "../../src/kubelet-rules/api-validation";

const LONG = "a".repeat(63);

test.each<readonly [key: string, good: readonly string[], bad: readonly string[]]>([
  ["topology.example.com/zone", ["eu-1a"], ["eu 1a"]],
  ["zone", ["", LONG], ["-eu", `${LONG}a`]],
  [LONG, ["x"], []],
  [`${"p.".repeat(126)}p/name`, ["x"], []],
  ...["", "a/b/c", "Upper.Case/zone", `${LONG}a`, "prefix/"].map((key) => [key, [], ["x"]] as const),
])("label %s may have the values %j, and not %j", (key, good, bad) => {
  for (const value of good) expect(invalidLabels("node-1", { [key]: value })).toBeUndefined();
  for (const value of bad)
    expect(invalidLabels("node-1", { [key]: value })).toMatch(
      /^Node "node-1" is invalid: \[?metadata\.labels: /,
    );
});

test("a driver in a CSINode: its name, and a node ID of so many bytes, not characters", () => {
  const check = (change: { name?: string; nodeId?: string }, maxNodeIdBytes = 256) =>
    invalidCsiNodeDriver("n", { name: "x.csi", nodeId: "id", ...change }, maxNodeIdBytes);
  for (const name of ["x.csi", "X.CSI.example.com", LONG]) expect(check({ name })).toBeUndefined();
  for (const name of ["x_csi", "x..csi", ".csi", "", `${LONG}a`])
    expect(check({ name })).toMatch(/^CSINode\.storage\.k8s\.io "n" is invalid: spec\.drivers\[0\]\.name: /);
  expect(check({ nodeId: "i".repeat(256) })).toBeUndefined();
  expect(check({ nodeId: "ü".repeat(129) })).toContain("must be 256 characters or less");
  expect(check({ nodeId: "i".repeat(129) }, 128)).toContain("must be 128 characters or less");
});

// What kubelet 1.37's own functions answer, IsExtendedResourceName, IsDNS1123Subdomain and so on.

const RESOURCES = ["example.com/gpu", "example.com/GPU_1.x", "example.com/g", `example.com/${LONG}`];
const LONG_RESOURCES = [100, 240].map((length) => `${"a".repeat(length)}.com/gpu`);
const NO_RESOURCES = [
  ...[
    `${"a".repeat(241)}.com/gpu`,
    `example.com/${LONG}a`,
    "gpu",
    "",
    "/gpu",
    "example.com/",
    "example.com/a/b",
  ],
  ...["Example.com/gpu", "example..com/gpu", "-example.com/gpu", "example.com/-gpu", "example.com/g\n"],
  ...["kubernetes.io/gpu", "x.kubernetes.io/gpu", "notkubernetes.io/gpu", "requests.example.com/gpu"],
];
const NO_NAMES = ["a/b/c", "Example.com/name", "/name", "name/", "example.com/-name", ""];

test.each([
  ["a device plugin's resource", isExtendedResource, [...RESOURCES, ...LONG_RESOURCES], NO_RESOURCES],
  [
    "a subdomain",
    isSubdomain,
    ["gpu.example.com", "a".repeat(253)],
    ["a".repeat(254), "GPU", "a_b", "a.", ""],
  ],
  ["a label", isLabel, ["gpu", LONG], [`${LONG}a`, "a.b", "GPU", "-a", ""]],
  ["a qualified name", isQualifiedName, ["Name_1.x", "example.com/name"], NO_NAMES],
])("the names of %s", (_, judge, good, bad) => {
  expect(good.filter((name) => !judge(name))).toEqual([]);
  expect(bad.filter(judge)).toEqual([]);
});
