import type { ApiClient } from "../../src/kube-api/client";
import type { ApiFailure, Outcome } from "../../src/kube-api/failure";
import {
  createNodeApi,
  isOlder,
  neededRules,
  parseCsiNode,
  parseNode,
} from "../../src/node-readiness/node-api";

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

test("a CSINode's owner is its Node, also beside others", () => {
  const ownerReferences = ["Pod", "Node"].map((kind, at) => ({ kind, uid: `${at}` }));
  expect(parseCsiNode({ ...CSI_NODE, metadata: { ownerReferences } })?.ownerUid).toBe("1");
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

const { signal } = new AbortController();
const failed = (kind: ApiFailure["kind"]) =>
  ({ kind: "failed", failure: { kind, message: "told" } }) as const;
const ANSWERS: readonly Outcome<unknown>[] = [
  ...[failed("not-found"), failed("forbidden")],
  ...["login page", NODE, CSI_NODE, { ...NODE, kind: "Pod" }, { ...NODE, metadata: { uid: "1" } }].map(
    (value) => ({ kind: "done", value }) as const,
  ),
];

test("what each request asks for, and what comes of each answer", async () => {
  const said: string[] = [];
  const say = (what: string, ...values: readonly unknown[]) =>
    said.push(`${what} ${values.map((value) => JSON.stringify(value)).join(" ")}`);
  let answer: Outcome<unknown> = failed("unreachable");
  const client: Pick<ApiClient, "call" | "follow"> = {
    call: async ({ method, path, ...rest }) => {
      if (answer === ANSWERS[0]) say(`${method} ${path}`, rest);
      return answer;
    },
    follow: async (path, { idleMs, onObject }) => {
      say(`GET ${path}`, { idleMs });
      const object = { ...NODE, metadata: { ...NODE.metadata, resourceVersion: "8" } };
      for (const type of ["ADDED", "MODIFIED", "BOOKMARK", "DELETED", "UNKNOWN"]) {
        say(type);
        for (const one of [object, CSI_NODE]) onObject({ type, object: one });
      }
      return undefined;
    },
  };
  const api = createNodeApi(client as ApiClient, "node/1");
  for (const one of ANSWERS) {
    answer = one;
    say("answer", one);
    say("  getNode", await api.getNode(signal));
    say("  getCsiNode", await api.getCsiNode(signal));
    say("  patchNode", await api.patchNode([{ op: "test" }], signal));
    say("  patchStatus", await api.patchStatus({ status: {} }, signal));
  }
  const onVersion = (version: string, node: unknown) => say("  version", version, node);
  const times = { resourceVersion: "7", seconds: 30, silentMs: 60_000 };
  await api.watchNode({ ...times, onOpen: () => {}, onVersion }, signal);
  for (const startupTaints of [[], ["a/b"]])
    for (const condition of [undefined, "a/b"])
      say(`rights ${startupTaints} ${condition}`, ...neededRules({ startupTaints, condition }));
  expect(["", ...said, ""].join("\n")).toMatchSnapshot();
});

test.each([
  ["7", "10", true],
  ["10", "7", false],
  ["7", "7", false],
  ["9007199254740992", "9007199254740993", true],
  ["x", "7", false],
  ["x7", "10", false],
  ["7", "7x", false],
])("of one Node, version %s is older than %s: %s", (one, other, isOne) => {
  const view = (resourceVersion: string, uid = "1") => ({ uid, resourceVersion, taints: [], conditions: [] });
  expect(isOlder(view(one), view(other))).toBe(isOne);
  expect(isOlder(view(one), view(other, "2"))).toBe(false);
});
