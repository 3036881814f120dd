import type { ApiClient } from "../../src/kube-api/client";
import type { ApiFailure } from "../../src/kube-api/failure";
import { createNodeApi, parseCsiNode, parseNode } from "../../src/node-readiness/node-api";

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

test.each<[what: string, lines: readonly object[], cut: ApiFailure["kind"] | undefined, kind: unknown]>([
  ["ends", [{ type: "BOOKMARK" }], undefined, undefined],
  ["is cut", [{ type: "BOOKMARK" }], "unreachable", "unreachable"],
  ["tells an error", [{ type: "ERROR", object: { code: 410 } }], undefined, "expired"],
  ["tells an error, and is cut", [{ type: "ERROR", object: { code: 410 } }], "unreachable", "expired"],
  [
    "tells two errors",
    [500, 410].map((code) => ({ type: "ERROR", object: { code } })),
    "unreachable",
    "expired",
  ],
])("a watch that %s ends with the reason that the API server told", async (_what, lines, cut, kind) => {
  const follow: ApiClient["follow"] = async (_path, { onObject }) => {
    lines.forEach(onObject);
    return cut && { kind: cut, message: "cut" };
  };
  const api = createNodeApi({ follow } as ApiClient, "node-1");
  const [onOpen, onVersion] = [() => {}, () => {}];
  const options = { resourceVersion: "1", seconds: 1, silentMs: 1, onOpen, onVersion };
  const failure = await api.watchNode(options, new AbortController().signal);
  expect(failure?.kind).toBe(kind);
});
