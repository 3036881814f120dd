import { attempt } from "../base/errors";
import type { ApiCall, ApiClient } from "../kube-api/client";
import { type ApiFailure, failureOf } from "../kube-api/failure";
import { anyTree, list, text, tree } from "../kube-api/objects";

/** A taint of a Node, with all its fields: a patch compares whole taints. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly [field: string]: unknown;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastHeartbeatTime?: string;
}

export interface NodeView {
  /** Another one after the Node was deleted and created again. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly taints: readonly Taint[];
  readonly conditions: readonly NodeCondition[];
}

/** Reads a Node; undefined for any other object, and where a field is of another type: a list that was not read is not empty. */
export const parseNode = (object: unknown): NodeView | undefined =>
  attempt(() => {
    const { kind, metadata, spec, status } = tree(object);
    const { uid, resourceVersion } = tree(metadata);
    if (kind !== "Node" || typeof uid !== "string" || typeof resourceVersion !== "string") return undefined;
    const taints = objects(tree(spec).taints) as readonly Taint[];
    return { uid, resourceVersion, taints, conditions: objects(tree(status).conditions) as NodeCondition[] };
  });

/** The items as they are, because a patch compares them whole. */
function objects(value: unknown): readonly unknown[] {
  const items = list(value);
  for (const item of items) tree(item);
  return items;
}

export interface CsiNodeView {
  /** The names of the drivers that kubelet has registered. */
  readonly drivers: readonly string[];
  /** The UID of the Node that owns it. */
  readonly ownerUid: string | undefined;
}

/** Reads a CSINode; undefined as for a Node. */
export const parseCsiNode = (csiNode: unknown): CsiNodeView | undefined =>
  attempt(() => {
    const { kind, metadata, spec } = tree(csiNode);
    if (kind !== "CSINode") return undefined;
    const owners = list(tree(metadata).ownerReferences).map(tree);
    const drivers = list(tree(spec).drivers).map((driver) => text(tree(driver).name));
    return { drivers, ownerUid: text(owners.find(({ kind }) => kind === "Node")?.uid) || undefined };
  });

/** Of a CSINode that does not exist. */
const NO_CSI_NODE: CsiNodeView = { drivers: [], ownerUid: undefined };

/** Whether a view is older than another of the same Node. Resource versions are growing whole numbers (KEP-5504). */
export function isOlder(view: NodeView, than: NodeView): boolean {
  const [one, other] = [view.resourceVersion, than.resourceVersion];
  if (view.uid !== than.uid || !/^\d+$/.test(one) || !/^\d+$/.test(other)) return false;
  return BigInt(one) < BigInt(other);
}

interface WatchOptions {
  /** The watch begins after this version, and the API server ends it after about `seconds`. */
  readonly resourceVersion: string;
  readonly seconds: number;
  readonly silentMs: number;
  readonly onOpen: () => void;
  /** The Node up to this version: undefined if it did not change, null if it was deleted. */
  readonly onVersion: (resourceVersion: string, node: NodeView | null | undefined) => void;
}

export type NodeApi = ReturnType<typeof createNodeApi>;

/** The requested value, or what the registrar was doing when a request failed. */
export type NodeAnswer<Value> =
  | { readonly kind: "done"; readonly value: Value }
  | { readonly kind: "failed"; readonly doing: string; readonly failure: ApiFailure };

export const done = <Value>(value: Value) => ({ kind: "done", value }) as const;

/** Makes the requests for the node `nodeName`. None rejects. */
export function createNodeApi(client: ApiClient, nodeName: string) {
  const nodePath = `/api/v1/nodes/${encodeURIComponent(nodeName)}`;
  const csiNodePath = `/apis/storage.k8s.io/v1/csinodes/${encodeURIComponent(nodeName)}`;

  const ask = async <View>(
    doing: string,
    call: ApiCall,
    parse: (object: unknown) => View | undefined,
    signal: AbortSignal,
  ): Promise<NodeAnswer<View>> => {
    const answer = await client.call(call, signal);
    if (answer.kind === "failed") return { ...answer, doing };
    const view = parse(answer.value);
    if (view !== undefined) return done(view);
    const message = `the API server's answer to ${call.path} is not what it must be`;
    return { kind: "failed", doing, failure: { kind: "unexpected", message } };
  };
  const patch = (doing: string, path: string, type: string, body: object, signal: AbortSignal) =>
    ask(doing, { method: "PATCH", path, body, contentType: `application/${type}+json` }, parseNode, signal);

  return {
    getNode: (signal: AbortSignal) =>
      ask("reading the Node", { method: "GET", path: nodePath }, parseNode, signal),
    getCsiNode: async (signal: AbortSignal): Promise<NodeAnswer<CsiNodeView>> => {
      const call: ApiCall = { method: "GET", path: csiNodePath };
      const answer = await ask("reading CSINode", call, parseCsiNode, signal);
      const isMissing = answer.kind === "failed" && answer.failure.kind === "not-found";
      return isMissing ? done(NO_CSI_NODE) : answer;
    },
    /** Fails with `conflict` if a test of the patch fails. */
    patchNode: (body: readonly object[], signal: AbortSignal) =>
      patch("removing startup taints", nodePath, "json-patch", body, signal),
    patchStatus: (body: object, signal: AbortSignal) =>
      patch("setting the node's condition", `${nodePath}/status`, "strategic-merge-patch", body, signal),
    /** Watches the Node. Resolves with the failure that ended the watch, if any. */
    watchNode: async (
      { resourceVersion, seconds, silentMs, onOpen, onVersion }: WatchOptions,
      signal: AbortSignal,
    ): Promise<ApiFailure | undefined> => {
      const query = new URLSearchParams({
        watch: "true",
        fieldSelector: `metadata.name=${nodeName}`,
        resourceVersion,
        allowWatchBookmarks: "true",
        timeoutSeconds: String(seconds),
      });
      let reported: ApiFailure | undefined;
      const onObject = (line: unknown) => {
        const { type, object } = anyTree(line);
        const version = String(anyTree(anyTree(object).metadata).resourceVersion);
        const node = parseNode(object);
        if (type === "ERROR") reported = failureOf(Number(anyTree(object).code), object, undefined);
        if (type === "BOOKMARK") onVersion(version, undefined);
        if (type === "DELETED") onVersion(version, null);
        if ((type === "ADDED" || type === "MODIFIED") && node) onVersion(version, node);
      };
      const path = `/api/v1/nodes?${query}`;
      const failure = await client.follow(path, { signal, idleMs: silentMs, onOpen, onObject });
      return reported ?? failure;
    },
  };
}

/** The least rights, each rule as YAML. RBAC cannot restrict a client to its own node: an admission policy can. */
export function neededRules(targets: {
  readonly startupTaints: readonly unknown[];
  readonly condition: string | undefined;
}): readonly string[] {
  const patch = targets.startupTaints.length > 0 ? ", patch" : "";
  return [
    `{apiGroups: [""], resources: [nodes], verbs: [get, watch${patch}]}`,
    ...(targets.condition === undefined
      ? []
      : ['{apiGroups: [""], resources: [nodes/status], verbs: [patch]}']),
    "{apiGroups: [storage.k8s.io], resources: [csinodes], verbs: [get]}",
  ];
}
