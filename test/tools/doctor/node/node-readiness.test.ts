import type { NodeInfo } from "../../../../src/grpc/protos";
import type { ApiFailure } from "../../../../src/kube-api/failure";
import type { Taint } from "../../../../src/node-readiness/node-api";
import type {
  NodeReadinessFacts,
  NodeReadinessTarget,
} from "../../../../src/tools/doctor/node/read/node-readiness";
import { healthyFacts, sayings } from "./healthy-facts";

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
const without = (...denied: string[]) => ({
  kind: "done" as const,
  value: { allowed: RIGHTS.filter((right) => !denied.includes(right)), denied },
});
const notAsked = (changes: Partial<NodeReadinessTarget>): NodeReadinessFacts => ({
  target: { ...TARGET, ...changes },
  kind: "not-asked",
});

const MAY = /^ok: the service account may do what is needed: get nodes, watch nodes, patch nodes/;
const NO_TAINT = /^ok: node-1 has no startup taint of a driver that is here/;
const ON =
  /^problem: node-1 has the startup taint x\.csi\/agent-not-ready:NoExecute since 2026-01-01T00:00:00Z, though CSINode lists x\.csi: .*kubectl taint node node-1 x\.csi\/agent-not-ready:NoExecute-/;
const NO_RIGHTS =
  /^problem: the service account may not patch nodes, patch nodes\/status; .*\[\{apiGroups: \[""\], resources: \[nodes\], verbs: \[get, watch, patch\]\}, .*nodes\/status/;
const both = (kind: "unreachable" | "unauthorized", message: string) =>
  asked({ rights: failed({ kind, message }), node: failed({ kind, message }) });
const FORBIDDEN = failed({ kind: "forbidden", message: "no" });
const GONE = failed({ kind: "not-found", message: "gone" });
const NONE_LISTED = asked({ listed: { kind: "done", value: [] } }, [TAINT]);
const UNKNOWN_NAME = notAsked({ nodeName: { kind: "unknown", why: "NODE_NAME is not set" } });
const NO_POD = notAsked({ access: { kind: "unknown", why: "this is no pod" } });
const UNLISTED = asked({ rights: without("get csinodes"), listed: FORBIDDEN }, [TAINT]);
const NO_PATCHES = asked({ rights: without("patch nodes", "patch nodes/status") });
const NO_TOKEN = { target: TARGET, kind: "no-token", path: "/secrets/token", why: "ENOENT" } as const;
const UNSEEN = asked({ rights: without("get nodes"), node: FORBIDDEN });

test.each<readonly [string, NodeReadinessFacts | undefined, readonly RegExp[]]>([
  ["the registrar has no such flag", undefined, []],
  ["the node is ready", asked(), [MAY, NO_TAINT]],
  ["another taint is on", asked({}, [{ key: "dedicated", effect: "NoSchedule" }]), [MAY, NO_TAINT]],
  ["the taint is on, and the driver is in CSINode", asked({}, [TAINT]), [MAY, ON]],
  ["the driver is not in CSINode yet", NONE_LISTED, [MAY, /^ok: .* as it should: CSINode does not list x/]],
  ["CSINode may not be read", UNLISTED, [/may not get csinodes/, /^unknown: .*00Z; CSINode.* not be read/]],
  ["rights are missing", NO_PATCHES, [NO_RIGHTS, NO_TAINT]],
  [
    "the Node may not be read",
    UNSEEN,
    [/^problem: .* may not get nodes/, /^unknown: node-1 may not be read/],
  ],
  [
    "no such Node",
    asked({ node: GONE }),
    [MAY, /^problem: node-1 is no Node .*--node-name.*kubectl get nod/],
  ],
  ["away", both("unreachable", "ECONNREFUSED"), [/^problem: .*: ECONNREFUSED; fix: .*certificate fits/]],
  [
    "a bad token",
    both("unauthorized", "No"),
    [/API server cannot be asked: No; .* token is of this cluster/],
  ],
  ["no token", NO_TOKEN, [/^problem: \/secrets\/token cannot be read: ENOENT; .*automountServiceAccount/]],
  [
    "the node has no name",
    UNKNOWN_NAME,
    [/^warning: this node has no known name: NODE_NAME is not set; fix/],
  ],
  ["this is no pod", NO_POD, [/^unknown: .* cannot be seen from here: this is no pod/]],
])("%s", (_title, nodeReadiness, expected) => {
  expect(sayings("node-readiness", healthyFacts({ facts: { nodeReadiness } }))).toEqual(
    expected.map((said) => expect.stringMatching(said)),
  );
});

const ZONE = { accessibleTopology: { segments: { zone: "a" } } };

test.each<[what: string, Partial<typeof LISTED>, Partial<NodeInfo>, RegExp | undefined]>([
  ["the same", {}, {}, undefined],
  ["the node ID", {}, { nodeId: "n2" }, /node ID n2, and CSINode has n1: .*; fix: delete its pod/],
  ["a topology", {}, ZONE, /topology keys zone, and CSINode has none: /],
  ["the limit", {}, { maxVolumesPerNode: 8 }, /limit 8, and CSINode has none: .*; fix: set nodeAllocatable/],
  ["no limit", {}, { maxVolumesPerNode: -1 }, undefined],
  ["a limit that kubelet cuts", { maxVolumes: 2 ** 31 - 1 }, { maxVolumesPerNode: 2 ** 40 }, undefined],
  ["another driver", { name: "y.csi" }, { nodeId: "n2" }, undefined],
])("what CSINode has and the driver answers now: %s", (_what, listed, info, expected) => {
  const { driver } = healthyFacts();
  if (driver?.nodeInfo?.kind !== "answered") throw new Error("a healthy driver answers");
  const nodeInfo = { kind: "answered", value: { ...driver.nodeInfo.value, ...info } } as const;
  const nodeReadiness = asked({ listed: { kind: "done", value: [{ ...LISTED, ...listed }] } });
  const facts = healthyFacts({ facts: { nodeReadiness, driver: { ...driver, nodeInfo } } });
  const warnings = sayings("driver-node-info", facts).filter((said) => !said.startsWith("ok: "));
  expect(warnings).toEqual(expected === undefined ? [] : [expect.stringMatching(expected)]);
});
