import { NODE_ID_ANNOTATION } from "../../src/kubelet-rules/node-id-annotation";
import {
  createNode,
  topologyCollision,
  withNodeId,
  withoutNodeId,
  withTopologyLabels,
} from "../../src/simulator/kubelet/node";

const node = createNode("node-1", "uid", { zone: "a" });

test("the annotation maps drivers to node IDs, in the order of their names", () => {
  const both = withNodeId(withNodeId(node, "b.csi", "b-1"), "a.csi", "a-1");
  expect(both.metadata.annotations).toEqual({ [NODE_ID_ANNOTATION]: '{"a.csi":"a-1","b.csi":"b-1"}' });
  expect(withNodeId(both, "b.csi", "b-2").metadata.annotations[NODE_ID_ANNOTATION]).toContain("b-2");
});

test("the annotation goes with its last driver", () => {
  const both = withNodeId(withNodeId(node, "a.csi", "1"), "b.csi", "2");
  const one = withoutNodeId(both, "a.csi");
  expect(one.metadata.annotations).toEqual({ [NODE_ID_ANNOTATION]: '{"b.csi":"2"}' });
  expect(withoutNodeId(one, "b.csi").metadata.annotations).toEqual({});
});

test("topology becomes labels beside those that are there", () => {
  expect(withTopologyLabels(node, { rack: "7", zone: "a" }).metadata.labels).toEqual({
    zone: "a",
    rack: "7",
  });
});

test("topology does not change a label", () => {
  expect(topologyCollision(node, { rack: "7", zone: "b" })).toBe(
    'detected topology value collision: driver reported "zone":"b" but existing label is "zone":"a"',
  );
  expect(topologyCollision(node, { rack: "7", zone: "a" })).toBeUndefined();
});

test("what changes nothing gives the same object", () => {
  const there = withNodeId(node, "a.csi", "1");
  expect(withNodeId(there, "a.csi", "1")).toBe(there);
  expect(withoutNodeId(there, "b.csi")).toBe(there);
  expect(withTopologyLabels(there, { zone: "a" })).toBe(there);
  expect(withTopologyLabels(there, {})).toBe(there);
});
