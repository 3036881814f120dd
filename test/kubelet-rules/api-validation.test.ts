import {
  invalidCsiNodeDriver,
  invalidLabels,
  isExtendedResource,
  isLabel,
  isQualifiedName,
  isSubdomain,
} from "../../src/kubelet-rules/api-validation";

test.each([
  ["topology.example.com/zone", "eu-1a"],
  ["zone", ""],
  ["a".repeat(63), "b".repeat(63)],
  [`${"p.".repeat(126)}p/name`, "x"],
])("takes label %s=%s", (key, value) => {
  expect(invalidLabels("node-1", { [key]: value })).toBeUndefined();
});

test.each([
  ["zone", "eu 1a"],
  ["zone", "-eu"],
  ["zone", "b".repeat(64)],
  ["", "x"],
  ["a/b/c", "x"],
  ["Upper.Case/zone", "x"],
  ["a".repeat(64), "x"],
  ["prefix/", "x"],
])("does not take label %s=%s", (key, value) => {
  expect(invalidLabels("node-1", { [key]: value })).toMatch(/^Node "node-1" is invalid: metadata\.labels: /);
});

describe("a driver in a CSINode", () => {
  const check = (change: { name?: string; nodeId?: string }, maxNodeIdBytes = 256) =>
    invalidCsiNodeDriver("n", { name: "x.csi", nodeId: "id", ...change }, maxNodeIdBytes);

  test.each(["x.csi", "X.CSI.example.com", "a".repeat(63)])("may be called %s", (name) => {
    expect(check({ name })).toBeUndefined();
  });

  test.each(["x_csi", "x..csi", ".csi", "", "a".repeat(64)])("may not be called %s", (name) => {
    expect(check({ name })).toMatch(/^CSINode\.storage\.k8s\.io "n" is invalid: spec\.drivers\.name: /);
  });

  test("may have a node ID of so many bytes, not characters", () => {
    expect(check({ nodeId: "i".repeat(256) })).toBeUndefined();
    expect(check({ nodeId: "ü".repeat(129) })).toContain("must be 256 characters or less");
    expect(check({ nodeId: "i".repeat(129) }, 128)).toContain("must be 128 characters or less");
  });
});

// What kubelet 1.37's own functions answer, IsExtendedResourceName and IsDNS1123Subdomain.

test.each([
  ["example.com/gpu", true],
  ["example.com/GPU_1.x", true],
  ["example.com/g", true],
  [`${"a".repeat(100)}.com/gpu`, true],
  [`${"a".repeat(240)}.com/gpu`, true],
  [`${"a".repeat(241)}.com/gpu`, false],
  [`example.com/${"g".repeat(63)}`, true],
  [`example.com/${"g".repeat(64)}`, false],
  ["gpu", false],
  ["", false],
  ["/gpu", false],
  ["example.com/", false],
  ["example.com/a/b", false],
  ["Example.com/gpu", false],
  ["example..com/gpu", false],
  ["-example.com/gpu", false],
  ["example.com/-gpu", false],
  ["example.com/g\n", false],
  ["kubernetes.io/gpu", false],
  ["x.kubernetes.io/gpu", false],
  ["notkubernetes.io/gpu", false],
  ["requests.example.com/gpu", false],
])("%j as a resource of a device plugin: %s", (name, is) => {
  expect(isExtendedResource(name)).toBe(is);
});

test.each([
  ["gpu.example.com", true],
  ["a".repeat(253), true],
  ["a".repeat(254), false],
  ["GPU", false],
  ["a_b", false],
  ["a.", false],
  ["", false],
])("%j as a subdomain: %s", (name, is) => {
  expect(isSubdomain(name)).toBe(is);
});

test.each([
  ["gpu", true],
  ["a".repeat(63), true],
  ["a".repeat(64), false],
  ["a.b", false],
  ["GPU", false],
  ["-a", false],
  ["", false],
])("%j as a label: %s", (name, is) => {
  expect(isLabel(name)).toBe(is);
});

test.each([
  ["Name_1.x", true],
  ["example.com/name", true],
  ["a/b/c", false],
  ["Example.com/name", false],
  ["/name", false],
  ["name/", false],
  ["example.com/-name", false],
  ["", false],
])("%j as a qualified name: %s", (name, is) => {
  expect(isQualifiedName(name)).toBe(is);
});
