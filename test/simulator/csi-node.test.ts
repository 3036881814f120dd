import {
  createCsiNode,
  type DriverOnNode,
  withDriver,
  withoutDriver,
} from "../../src/simulator/kubelet/csi-objects";

const empty = createCsiNode("node-1", "uid");
const rules = { comparesVolumeLimit: true };
const driver = (change: Partial<DriverOnNode> = {}): DriverOnNode => ({
  name: "a.csi",
  nodeId: "n1",
  maxVolumes: 0,
  topology: {},
  ...change,
});

test("a CSINode belongs to its Node and begins without drivers", () => {
  expect(empty).toEqual({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: {
      name: "node-1",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "uid" }],
    },
    spec: { drivers: [] },
  });
});

test.each<[string, Partial<DriverOnNode>, object]>([
  ["no more than a name and an ID", {}, { name: "a.csi", nodeID: "n1", topologyKeys: [] }],
  ["topology keys in order", { topology: { b: "1", a: "2" } }, { topologyKeys: ["a", "b"] }],
  ["a volume limit", { maxVolumes: 39 }, { allocatable: { count: 39 } }],
  ["a limit beyond 32 bits, cut", { maxVolumes: 2 ** 40 }, { allocatable: { count: 2_147_483_647 } }],
])("a driver with %s", (_case, change, expected) => {
  expect(withDriver(empty, driver(change), rules).spec.drivers).toEqual([expect.objectContaining(expected)]);
});

test.each([0, -5])("a limit of %d is none", (maxVolumes) => {
  expect(withDriver(empty, driver({ maxVolumes }), rules).spec.drivers[0]).not.toHaveProperty("allocatable");
});

describe("a driver that is there already", () => {
  const there = withDriver(
    withDriver(empty, driver({ maxVolumes: 3 }), rules),
    driver({ name: "b.csi" }),
    rules,
  );

  test("is left alone when nothing changed", () => {
    expect(withDriver(there, driver({ maxVolumes: 3 }), rules)).toBe(there);
  });

  test("is replaced, and stands last", () => {
    const changed = withDriver(there, driver({ nodeId: "n2", maxVolumes: 3 }), rules);
    expect(changed.spec.drivers.map(({ name, nodeID }) => `${name} ${nodeID}`)).toEqual([
      "b.csi n1",
      "a.csi n2",
    ]);
  });

  test("keeps its old limit under a kubelet that does not compare limits", () => {
    const limit = driver({ maxVolumes: 5 });
    expect(withDriver(there, limit, { comparesVolumeLimit: false })).toBe(there);
    expect(withDriver(there, limit, rules)).not.toBe(there);
  });

  test("goes alone, and once", () => {
    const without = withoutDriver(there, "a.csi");
    expect(without.spec.drivers.map(({ name }) => name)).toEqual(["b.csi"]);
    expect(withoutDriver(without, "a.csi")).toBe(without);
  });
});
