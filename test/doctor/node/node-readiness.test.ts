import type { NodeReadinessFacts, NodeReadinessTarget } from "../../../src/doctor/node/read/node-readiness";
import type { NodeInfo } from "../../../src/grpc/protos";
import type { ApiFailure } from "../../../src/kube-api/failure";
import type { Taint } from "../../../src/node-readiness/node-api";
import { findingsOf, healthyFacts } from "./healthy-facts";

const TARGET: NodeReadinessTarget = {
  startupTaints: [{ key: "{driver}/agent-not-ready", effect: undefined }],
  hasCondition: true,
  impersonatesNode: false,
  nodeName: { kind: "known", name: "node-1" },
  access: { kind: "known", access: { server: "https://10.0.0.1:443", authority: undefined } },
};
const TAINT: Taint = { key: "x.csi/agent-not-ready", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" };
const RIGHTS = ["get nodes", "watch nodes", "patch nodes", "patch nodes/status", "get csinodes"];

const LISTED = {
  name: "x.csi",
  nodeId: "n1",
  topologyKeys: [] as string[],
  maxVolumes: undefined as number | undefined,
};

type Asked = Extract<NodeReadinessFacts, { readonly kind: "asked" }>;

function asked(changes: Partial<Asked> = {}, taints: readonly Taint[] = []): NodeReadinessFacts {
  return {
    target: TARGET,
    kind: "asked",
    nodeName: "node-1",
    rights: without(),
    node: { kind: "done", value: { uid: "1", resourceVersion: "1", taints, conditions: [] } },
    listed: { kind: "done", value: [LISTED] },
    ...changes,
  };
}
const failed = (failure: ApiFailure) => ({ kind: "failed", doing: "", failure }) as const;
const without = (...denied: readonly string[]) => ({
  kind: "done" as const,
  value: { allowed: RIGHTS.filter((right) => !denied.includes(right)), denied },
});
const notAsked = (changes: Partial<NodeReadinessTarget>): NodeReadinessFacts => ({
  target: { ...TARGET, ...changes },
  kind: "not-asked",
});

const MAY = /^ok: the service account may do what is needed: get nodes, watch nodes, patch nodes/;
const NO_TAINT = /^ok: node-1 has no startup taint of a driver that is here/;
const both = (kind: "unreachable" | "unauthorized", message: string) =>
  asked({ rights: failed({ kind, message }), node: failed({ kind, message }) });

test.each<readonly [string, NodeReadinessFacts | undefined, readonly RegExp[]]>([
  ["the registrar has no such flag", undefined, []],
  ["the node is ready", asked(), [MAY, NO_TAINT]],
  ["another taint is on", asked({}, [{ key: "dedicated", effect: "NoSchedule" }]), [MAY, NO_TAINT]],
  [
    "the taint is on, and the driver is in CSINode",
    asked({}, [TAINT]),
    [
      MAY,
      /^problem: node-1 has the startup taint x\.csi\/agent-not-ready:NoExecute since 2026-01-01T00:00:00Z, though CSINode lists x\.csi: .* -> .*kubectl taint node node-1 x\.csi\/agent-not-ready:NoExecute-/,
    ],
  ],
  [
    "the taint is on, and the driver is not in CSINode yet",
    asked({ listed: { kind: "done", value: [] } }, [TAINT]),
    [MAY, /^ok: .* as it should: CSINode does not list x\.csi yet/],
  ],
  [
    "the taint is on, and CSINode may not be read",
    asked({ rights: without("get csinodes"), listed: failed({ kind: "forbidden", message: "no" }) }, [TAINT]),
    [/^problem: .* may not get csinodes/, /^unknown: .* since 2026-01-01T00:00:00Z; CSINode.* not be read/],
  ],
  [
    "rights are missing",
    asked({ rights: without("patch nodes", "patch nodes/status") }),
    [
      /^problem: the service account may not patch nodes, patch nodes\/status -> .*\[\{apiGroups: \[""\], resources: \[nodes\], verbs: \[get, watch, patch\]\}, .*nodes\/status/,
      NO_TAINT,
    ],
  ],
  [
    "not even the Node may be read",
    asked({ rights: without("get nodes"), node: failed({ kind: "forbidden", message: "no" }) }),
    [/^problem: .* may not get nodes/, /^unknown: node-1 may not be read/],
  ],
  [
    "there is no such Node",
    asked({ node: failed({ kind: "not-found", message: "gone" }) }),
    [MAY, /^problem: node-1 is no Node of this cluster -> .*--node-name.*kubectl get nodes/],
  ],
  ["away", both("unreachable", "ECONNREFUSED"), [/^problem: .*: ECONNREFUSED -> .*certificate fits/]],
  [
    "the token does not count",
    both("unauthorized", "Unauthorized"),
    [/^problem: the API server does not answer as it should: Unauthorized -> .*token is of this cluster/],
  ],
  [
    "there is no token",
    { target: TARGET, kind: "no-token", path: "/secrets/token", why: "ENOENT" },
    [/^problem: \/secrets\/token cannot be read: ENOENT -> .*automountServiceAccountToken/],
  ],
  [
    "the node's name is unknown",
    notAsked({ nodeName: { kind: "unknown", why: "NODE_NAME is not set" } }),
    [/^warning: this node has no known name: NODE_NAME is not set -> .*NODE_NAME from fieldRef/],
  ],
  [
    "this is no pod",
    notAsked({ access: { kind: "unknown", why: "this is no pod" } }),
    [/^unknown: .* cannot be seen from here: this is no pod/],
  ],
])("%s", (_title, nodeReadiness, expected) => {
  const found = findingsOf("node-readiness", healthyFacts({ facts: { nodeReadiness } }));
  expect(found.map(({ status, subject, text, fix }) => `${status}: ${subject} ${text} -> ${fix}`)).toEqual(
    expected.map((said) => expect.stringMatching(said)),
  );
});

type Row = readonly [
  what: string,
  listed: Partial<typeof LISTED>,
  info: Partial<NodeInfo>,
  expected: RegExp | undefined,
];

test.each<Row>([
  ["the same", {}, {}, undefined],
  ["the node ID", {}, { nodeId: "n2" }, /node ID n2, and CSINode has n1: .* -> delete its pod/],
  [
    "a topology",
    {},
    { accessibleTopology: { segments: { zone: "a" } } },
    /topology keys zone, and CSINode has none: /,
  ],
  ["the limit", {}, { maxVolumesPerNode: 8 }, /volume limit 8, and CSINode has none, .* -> set nodeAlloc/],
  ["no limit", {}, { maxVolumesPerNode: -1 }, undefined],
  ["a limit that kubelet cuts", { maxVolumes: 2 ** 31 - 1 }, { maxVolumesPerNode: 2 ** 40 }, undefined],
  ["another driver", { name: "y.csi" }, { nodeId: "n2" }, undefined],
])("what CSINode has and the driver answers now: %s", (_what, listed, info, expected) => {
  const { driver } = healthyFacts();
  if (driver?.nodeInfo.kind !== "answered") throw new Error("a healthy driver answers");
  const nodeInfo = { kind: "answered", value: { ...driver.nodeInfo.value, ...info } } as const;
  const nodeReadiness = asked({ listed: { kind: "done", value: [{ ...LISTED, ...listed }] } });
  const facts = healthyFacts({ facts: { nodeReadiness, driver: { ...driver, nodeInfo } } });
  const warnings = findingsOf("driver-node-info", facts).filter(({ status }) => status !== "ok");
  expect(warnings.map(({ status, subject, text, fix }) => `${status}: ${subject} ${text} -> ${fix}`)).toEqual(
    expected === undefined ? [] : [expect.stringMatching(expected)],
  );
});
