import { fieldsOf, listOf } from "./json";

/** One taint as the API server has it. Fields that we do not know are kept: a patch compares whole taints. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly [field: string]: unknown;
}

/** One entry of a Node's `status.conditions`. */
export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastHeartbeatTime?: string;
}

/** What of a Node object matters here. */
export interface NodeView {
  /** Another one means that the Node was deleted and made anew. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly taints: readonly Taint[];
  readonly conditions: readonly NodeCondition[];
}

/** Reads a Node object; undefined if it is another one. */
export function parseNode(object: unknown): NodeView | undefined {
  const { kind, metadata, spec, status } = fieldsOf(object);
  const { uid, resourceVersion } = fieldsOf(metadata);
  if (kind !== "Node" || typeof uid !== "string" || typeof resourceVersion !== "string") return undefined;
  return {
    uid,
    resourceVersion,
    taints: listOf(fieldsOf(spec).taints) as readonly Taint[],
    conditions: listOf(fieldsOf(status).conditions) as readonly NodeCondition[],
  };
}

/** The drivers that a CSINode object lists. */
export function driversIn(csiNode: unknown): readonly string[] {
  return listOf(fieldsOf(fieldsOf(csiNode).spec).drivers).flatMap((driver) => {
    const { name } = fieldsOf(driver);
    return typeof name === "string" ? [name] : [];
  });
}

/**
 * Whether a view of a Node is older than another of the same Node. Resource versions are whole numbers that grow
 * (KEP-5504); a server that counts otherwise gets no answer, and then a view only costs a patch that fails its test.
 */
export function isOlder(view: NodeView, than: NodeView): boolean {
  const [one, other] = [view.resourceVersion, than.resourceVersion];
  if (view.uid !== than.uid || !/^\d+$/.test(one) || !/^\d+$/.test(other)) return false;
  return BigInt(one) < BigInt(other);
}
