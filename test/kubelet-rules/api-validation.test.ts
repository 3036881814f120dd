import { invalidCsiNodeDriver, invalidLabels } from "../../src/kubelet-rules/api-validation";

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
