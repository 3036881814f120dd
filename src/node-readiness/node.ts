import { list, tree } from "../kube-api/objects";

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

/** The fields of a Node that node readiness uses. */
export type NodeView = NonNullable<ReturnType<typeof parseNode>>;

/** Reads a Node; undefined for any other object. */
export function parseNode(object: unknown) {
  const { kind, metadata, spec, status } = tree(object);
  const { uid, resourceVersion } = tree(metadata);
  if (kind !== "Node" || typeof uid !== "string" || typeof resourceVersion !== "string") return undefined;
  return {
    /** A new one after the Node was deleted and created again. */
    uid,
    resourceVersion,
    taints: list(tree(spec).taints) as readonly Taint[],
    conditions: list(tree(status).conditions) as readonly NodeCondition[],
  };
}

/** What kubelet has written of a driver into CSINode. */
export interface ListedDriver {
  readonly name: string;
  readonly nodeId: string;
  /** In order. */
  readonly topologyKeys: readonly string[];
  /** Undefined: no limit. */
  readonly maxVolumes: number | undefined;
}

export function driversIn(csiNode: unknown): readonly ListedDriver[] {
  return list(tree(tree(csiNode).spec).drivers).flatMap((driver) => {
    const { name, nodeID, topologyKeys, allocatable } = tree(driver);
    const { count } = tree(allocatable);
    if (typeof name !== "string") return [];
    return {
      name,
      nodeId: String(nodeID ?? ""),
      topologyKeys: list(topologyKeys).map(String).sort(),
      maxVolumes: typeof count === "number" ? count : undefined,
    };
  });
}

/**
 * Whether a view of a Node is older than another of the same Node. Resource versions are growing whole numbers
 * (KEP-5504). Other versions never count as older: an old view then costs a patch that fails its test.
 */
export function isOlder(view: NodeView, than: NodeView): boolean {
  const [one, other] = [view.resourceVersion, than.resourceVersion];
  if (view.uid !== than.uid || !/^\d+$/.test(one) || !/^\d+$/.test(other)) return false;
  return BigInt(one) < BigInt(other);
}
