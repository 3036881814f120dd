import { parseCsiNode, parseNode } from "../../src/node-readiness/node-api";

const NODE = {
  kind: "Node",
  metadata: { uid: "1", resourceVersion: "7" },
  spec: { taints: [{ key: "x/startup", effect: "NoSchedule" }] },
  status: { conditions: [{ type: "Ready", status: "True" }] },
};

const CSI_NODE = {
  kind: "CSINode",
  metadata: { ownerReferences: [{ kind: "Node", uid: "1" }] },
  spec: { drivers: [{ name: "x.csi" }] },
};

/** The object with another value in place of each value of it, in turn. */
function* mutations(value: unknown, other: unknown): Generator<unknown> {
  yield other;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    for (const mutant of mutations(inner, other)) {
      const copy = structuredClone(value) as Record<string, unknown>;
      copy[key] = mutant;
      yield copy;
    }
}

describe.each([
  ["a Node", parseNode, NODE],
  ["a CSINode", parseCsiNode, CSI_NODE],
])("%s", (_what, parse: (object: unknown) => unknown, object) => {
  test.each([
    ["a text where", "login page"],
    ["a number where", 5],
    ["a list where", [["x"]]],
  ])("with %s another type must be is not read, or nothing is lost of it", (_type, other) => {
    const whole = JSON.stringify(parse(object)).match(/"[a-z/]*":\[\]|undefined/g);
    for (const mutant of mutations(object, other))
      expect(JSON.stringify(parse(mutant) ?? {}).match(/"[a-z/]*":\[\]|undefined/g)).toEqual(whole);
  });

  test("without its lists has empty ones", () => {
    expect(parse({ ...object, spec: null, status: undefined })).toBeDefined();
  });
});
