import { NODE_ID_ANNOTATION } from "../../kubelet-rules/node-id-annotation";
import { quoteGo } from "../../logging/escape";

/** The part of a Kubernetes Node that a registration changes. */
export interface NodeObject {
  readonly apiVersion: "v1";
  readonly kind: "Node";
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly annotations: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
  };
}

export function createNode(name: string, uid: string, labels: Readonly<Record<string, string>>): NodeObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid, annotations: {}, labels } };
}

/** The node IDs in the annotation, by driver name. */
export function nodeIdsOf(node: NodeObject): Readonly<Record<string, string>> {
  const text = node.metadata.annotations[NODE_ID_ANNOTATION];
  return text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
}

/** The node with this driver's node ID in the annotation; the same object if it is already there. */
export function withNodeId(node: NodeObject, driverName: string, nodeId: string): NodeObject {
  const ids = nodeIdsOf(node);
  return ids[driverName] === nodeId ? node : withNodeIds(node, { ...ids, [driverName]: nodeId });
}

/** The node without this driver's node ID; the annotation goes with the last one. Topology labels stay for good. */
export function withoutNodeId(node: NodeObject, driverName: string): NodeObject {
  const { [driverName]: gone, ...rest } = nodeIdsOf(node);
  return gone === undefined ? node : withNodeIds(node, rest);
}

/**
 * Why the node cannot have this topology: a label has another value, and a driver cannot move a node. Source:
 * `updateTopologyLabels` in `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
 */
export function topologyCollision(
  { metadata: { labels } }: NodeObject,
  topology: Readonly<Record<string, string>>,
): string | undefined {
  const collision = Object.entries(topology).find(([key, value]) => (labels[key] ?? value) !== value);
  if (collision === undefined) return undefined;
  const [key, value] = collision;
  const [reported, existing] = [value, labels[key] ?? ""].map((one) => `${quoteGo(key)}:${quoteGo(one)}`);
  return `detected topology value collision: driver reported ${reported} but existing label is ${existing}`;
}

/** The node with a driver's topology as labels; the same object if it already has them. */
export function withTopologyLabels(node: NodeObject, topology: Readonly<Record<string, string>>): NodeObject {
  const { labels } = node.metadata;
  if (Object.keys(topology).every((key) => key in labels)) return node;
  return { ...node, metadata: { ...node.metadata, labels: { ...labels, ...topology } } };
}

function withNodeIds(node: NodeObject, ids: Readonly<Record<string, string>>): NodeObject {
  const { [NODE_ID_ANNOTATION]: _, ...others } = node.metadata.annotations;
  // Go writes the keys of a map in order.
  const sorted = Object.fromEntries(Object.entries(ids).sort(([a], [b]) => (a < b ? -1 : 1)));
  const annotations =
    Object.keys(ids).length === 0 ? others : { ...others, [NODE_ID_ANNOTATION]: JSON.stringify(sorted) };
  return { ...node, metadata: { ...node.metadata, annotations } };
}
