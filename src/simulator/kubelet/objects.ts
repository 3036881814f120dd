import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { RegistrarError } from "../../base/errors";
import { invalidCsiNodeDriver, invalidLabels } from "../../kubelet-rules/api-refusals";
import { NODE_ID_ANNOTATION } from "../../kubelet-rules/api-validation";
import type { KubeletBehaviour } from "../../kubelet-rules/versions";
import { quoteGo } from "../../logging/escape";
import type { ResolvedKubeletOptions } from "./options";

/** Kubernetes' CSINode: which drivers a node has, and what the scheduler must know about them. */
export interface CsiNodeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSINode";
  /** Its name is the node's; it belongs to the Node. */
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences: readonly {
      readonly apiVersion: "v1";
      readonly kind: "Node";
      readonly name: string;
      readonly uid: string;
    }[];
  };
  /** The drivers that kubelet has registered. */
  readonly spec: { readonly drivers: readonly CsiNodeDriver[] };
}

/** What a CSINode says of one driver. */
export interface CsiNodeDriver {
  /** As GetInfo answered. */
  readonly name: string;
  /** As NodeGetInfo answered. */
  readonly nodeID: string;
  /** In order; the values are labels of the Node. */
  readonly topologyKeys: readonly string[];
  /** Absent: no limit. */
  readonly allocatable?: { readonly count: number };
}

export interface DriverOnNode {
  readonly name: string;
  readonly nodeId: string;
  /** 0: no limit. Kubelet logs a negative one and takes it for no limit. */
  readonly maxVolumes: number;
  readonly topology: Readonly<Record<string, string>>;
}

const MAX_INT32 = 2 ** 31 - 1;

/** The part of a Kubernetes Node that a registration changes. */
export interface NodeObject {
  readonly apiVersion: "v1";
  readonly kind: "Node";
  /** With the node IDs in an annotation and the topology in labels. */
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

function nodeIdsOf(node: NodeObject): Readonly<Record<string, string>> {
  const text = node.metadata.annotations[NODE_ID_ANNOTATION];
  return text === undefined ? {} : (JSON.parse(text) as Record<string, string>);
}

/** The node with these node IDs, by driver name, in the annotation, which goes with the last one. */
export function withNodeIds(node: NodeObject, ids: Readonly<Record<string, string>>): NodeObject {
  const { [NODE_ID_ANNOTATION]: _, ...others } = node.metadata.annotations;
  // Go writes the keys of a map in order.
  const sorted = Object.fromEntries(Object.entries(ids).sort(([a], [b]) => (a < b ? -1 : 1)));
  const annotations =
    Object.keys(ids).length === 0 ? others : { ...others, [NODE_ID_ANNOTATION]: JSON.stringify(sorted) };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

type ObjectChange =
  | { readonly kind: "node-changed"; readonly node: NodeObject }
  | { readonly kind: "csi-node-changed"; readonly csiNode: CsiNodeObject };

/** The two objects that a registration changes, as the API server keeps them: they outlive a kubelet restart. */
export type NodeInfoManager = ReturnType<typeof createNodeInfoManager>;

/**
 * Makes the objects of one node. It changes the Node first, completely or not at all, and then CSINode. Kubelet tries four
 * times in 0.3 s; here one try is enough, because nothing else writes to them.
 * Source: `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
 */
export function createNodeInfoManager(
  { nodeName, nodeLabels }: Pick<ResolvedKubeletOptions, "nodeName" | "nodeLabels">,
  { comparesVolumeLimit, maxNodeIdBytes, updatesVolumeLimits }: KubeletBehaviour,
  emit: (change: ObjectChange) => void,
) {
  const uid = randomUUID();
  let node = createNode(nodeName, uid, nodeLabels);
  // As kubelet creates it at its start, without its list of migrated in-tree plugins.
  let csiNode: CsiNodeObject = {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name: nodeName, ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid }] },
    spec: { drivers: [] },
  };

  // Callers and listeners get copies: what they change must not change the simulation.
  const setNode = (next: NodeObject) => {
    if (isDeepStrictEqual(next, node)) return;
    node = next;
    emit({ kind: "node-changed", node: copyOf(node) });
  };
  const setDrivers = (drivers: readonly CsiNodeDriver[]) => {
    if (isDeepStrictEqual(drivers, csiNode.spec.drivers)) return;
    csiNode = { ...csiNode, spec: { drivers } };
    emit({ kind: "csi-node-changed", csiNode: copyOf(csiNode) });
  };
  const driversWithout = (driverName: string) =>
    csiNode.spec.drivers.filter(({ name }) => name !== driverName);

  /** `installDriverToCSINode`: a driver that changed stands last. */
  const updateCsiNode = (driver: DriverOnNode) => {
    const wanted = csiNodeDriver(driver);
    const there = csiNode.spec.drivers.find(({ name }) => name === driver.name);
    const isSame = (hasLimit: boolean) => there && goText(there, hasLimit) === goText(wanted, hasLimit);
    if (isSame(comparesVolumeLimit)) return;
    const text = goText(wanted, !updatesVolumeLimits);
    // `ValidateCSINodeUpdate` in `pkg/apis/storage/validation/validation.go`.
    const immutable = `CSINode.storage.k8s.io ${quoteGo(nodeName)} is invalid: spec.drivers: Invalid value: ${text}: field is immutable`;
    const problem =
      invalidCsiNodeDriver(nodeName, driver, maxNodeIdBytes, driversWithout(driver.name).length) ??
      (there === undefined || isSame(!updatesVolumeLimits) ? undefined : immutable);
    refuseUpdate("CSINode", "CSINode", problem);
    setDrivers([...driversWithout(driver.name), wanted]);
  };

  return {
    node: () => copyOf(node),
    csiNode: () => copyOf(csiNode),
    /** Writes a driver into both objects. Throws REFUSED, in kubelet's words. */
    install: (driver: DriverOnNode): void => {
      const { name, nodeId, topology } = driver;
      if (nodeId === "") {
        const text = "error adding CSI driver node info: driverNodeID must not be empty";
        throw new RegistrarError("REFUSED", text);
      }
      const { labels } = node.metadata;
      refuseUpdate("Node", "node", invalidLabels(nodeName, topology) ?? topologyCollision(labels, topology));
      const { metadata, ...rest } = withNodeIds(node, { ...nodeIdsOf(node), [name]: nodeId });
      setNode({ ...rest, metadata: { ...metadata, labels: { ...labels, ...topology } } });
      updateCsiNode(driver);
    },
    /** Removes a driver from both objects; its topology labels stay. */
    uninstall: (driverName: string): void => {
      setDrivers(driversWithout(driverName));
      const { [driverName]: _, ...others } = nodeIdsOf(node);
      setNode(withNodeIds(node, others));
    },
  };
}

/** Not by `structuredClone`: until jest 30.4 its objects fail toStrictEqual (jestjs/jest#14011). */
const copyOf = <Value>(object: Value): Value => JSON.parse(JSON.stringify(object)) as Value;

const csiNodeDriver = ({ name, nodeId, maxVolumes, topology }: DriverOnNode): CsiNodeDriver => ({
  name,
  nodeID: nodeId,
  topologyKeys: Object.keys(topology).sort(),
  ...(maxVolumes > 0 && { allocatable: { count: Math.min(maxVolumes, MAX_INT32) } }),
});

const goText = ({ name, nodeID, topologyKeys, allocatable }: CsiNodeDriver, hasLimit: boolean) =>
  JSON.stringify({
    Name: name,
    NodeID: nodeID,
    TopologyKeys: topologyKeys,
    Allocatable: hasLimit && allocatable ? { Count: allocatable.count } : null,
  });

/** A label has another value, and a driver cannot move a node: `updateTopologyLabels`. */
function topologyCollision(
  labels: Readonly<Record<string, string>>,
  topology: Readonly<Record<string, string>>,
): string | undefined {
  const collision = Object.entries(topology).find(([key, value]) => (labels[key] ?? value) !== value);
  if (collision === undefined) return undefined;
  const [key, value] = collision;
  const [reported, existing] = [value, labels[key] ?? ""].map((one) => `${quoteGo(key)}:${quoteGo(one)}`);
  return `detected topology value collision: driver reported ${reported} but existing label is ${existing}`;
}

function refuseUpdate(kind: string, lowerKind: string, problem: string | undefined): void {
  if (problem === undefined) return;
  const where = `error updating ${kind} object with CSI driver node info: error updating ${lowerKind}`;
  const text = `${where}: timed out waiting for the condition; caused by: ${problem}`;
  throw new RegistrarError("REFUSED", text);
}
