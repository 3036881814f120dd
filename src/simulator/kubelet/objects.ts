import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { NodeGetInfoResponse } from "../../grpc/protos";
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

/** A driver, and what its NodeGetInfo answered. */
interface DriverOnNode extends NodeGetInfoResponse {
  readonly name: string;
}

const topologyOf = ({ accessibleTopology }: Pick<NodeGetInfoResponse, "accessibleTopology">) =>
  accessibleTopology?.segments ?? {};

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
  const isEmpty = Object.keys(ids).length === 0;
  const annotations = isEmpty
    ? others
    : { ...others, [NODE_ID_ANNOTATION]: goJson(inOrder(Object.entries(ids))) };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

/** The two objects that a registration changes, as the API server keeps them: they outlive a kubelet restart. */
export type NodeInfoManager = ReturnType<typeof createNodeInfoManager>;

/**
 * Makes the objects of one node. It changes the Node first, completely or not at all, and then CSINode. Kubelet tries four
 * times in 0.3 s; here one try is enough, because nothing else writes to them.
 * Source: `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
 */
export function createNodeInfoManager(
  { nodeName, nodeLabels }: Pick<ResolvedKubeletOptions, "nodeName" | "nodeLabels">,
  behaviour: KubeletBehaviour,
  emit: (
    change:
      | { readonly kind: "node-changed"; readonly node: NodeObject }
      | { readonly kind: "csi-node-changed"; readonly csiNode: CsiNodeObject },
  ) => void,
) {
  const { comparesVolumeLimit, updatesVolumeLimits } = behaviour;
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
  const updateCsiNode = (driver: DriverOnNode): string | undefined => {
    const wanted = csiNodeDriver(driver);
    const there = csiNode.spec.drivers.find(({ name }) => name === driver.name);
    const isSame = (hasLimit: boolean) =>
      there && isDeepStrictEqual(withLimit(there, hasLimit), withLimit(wanted, hasLimit));
    if (isSame(comparesVolumeLimit)) return undefined;
    const others = driversWithout(driver.name);
    const isImmutable = there !== undefined && !isSame(!updatesVolumeLimits);
    const change = () => changedDriver(nodeName, withLimit(wanted, !updatesVolumeLimits), behaviour);
    const invalid = invalidCsiNodeDriver(nodeName, driver, others.length, behaviour);
    const problem = invalid ?? (isImmutable ? change() : undefined);
    if (problem !== undefined) return failedUpdate("CSINode", "CSINode", problem);
    setDrivers([...others, wanted]);
    return undefined;
  };

  return {
    node: () => copyOf(node),
    csiNode: () => copyOf(csiNode),
    /** Writes a driver into both objects. Returns why it cannot, in kubelet's words; undefined: it could. */
    install: (driver: DriverOnNode): string | undefined => {
      const { name, nodeId } = driver;
      const topology = topologyOf(driver);
      if (nodeId === "") return "error adding CSI driver node info: driverNodeID must not be empty";
      const { labels } = node.metadata;
      const { metadata, ...rest } = withNodeIds(node, { ...nodeIdsOf(node), [name]: nodeId });
      const next = { ...rest, metadata: { ...metadata, labels: { ...labels, ...topology } } };
      const invalid = invalidLabels(nodeName, topology, behaviour);
      const collision = topologyCollision(labels, topology);
      const problem = collision ?? (invalid && `${failedPatch(node, next)}: ${invalid}`);
      if (problem !== undefined) return failedUpdate("Node", "node", problem);
      setNode(next);
      return updateCsiNode(driver);
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

/** Kubelet takes a negative limit for none. */
const csiNodeDriver = ({ maxVolumesPerNode: most, ...driver }: DriverOnNode): CsiNodeDriver => ({
  name: driver.name,
  nodeID: driver.nodeId,
  topologyKeys: Object.keys(topologyOf(driver)).sort(),
  ...(most > 0 && { allocatable: { count: Math.min(most, MAX_INT32) } }),
});

const withLimit = ({ allocatable, ...driver }: CsiNodeDriver, hasLimit: boolean): CsiNodeDriver =>
  hasLimit && allocatable ? { ...driver, allocatable } : driver;

/** As Go's encoding/json, which escapes what HTML gives a meaning. */
const goJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Go writes the keys of a map in order. */
const inOrder = (entries: readonly [string, string][]) =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** `ValidateCSINodeUpdate` in `pkg/apis/storage/validation/validation.go`. */
function changedDriver(
  nodeName: string,
  { name, nodeID, topologyKeys, allocatable }: CsiNodeDriver,
  { changedDriverWording: field }: KubeletBehaviour,
): string {
  const refusal = (value: string) =>
    `CSINode.storage.k8s.io ${quoteGo(nodeName)} is invalid: ${field}: Invalid value: ${value}: field is immutable`;
  if (field === "spec.drivers")
    return refusal(
      goJson({
        Name: name,
        NodeID: nodeID,
        TopologyKeys: topologyKeys,
        Allocatable: allocatable ? { Count: allocatable.count } : null,
      }),
    );
  const keys = topologyKeys.map(quoteGo).join(", ");
  const asGo = (limit: string) =>
    `storage.CSINodeDriver{Name:${quoteGo(name)}, NodeID:${quoteGo(nodeID)}, TopologyKeys:[]string{${keys}}, Allocatable:(*storage.VolumeNodeResources)(${limit})}`;
  if (allocatable === undefined) return refusal(asGo("nil"));
  // A pointer, another one in each of kubelet's four tries: so their equal errors are all there.
  const tries = Array.from({ length: 4 }, (_, number) => refusal(asGo(`0xc00000000${number}`)));
  return `[${tries.join(", ")}]`;
}

/** `PatchNodeStatus` in component-helpers' `node/util/status.go`. */
function failedPatch(before: NodeObject, after: NodeObject): string {
  const changed = (kind: "annotations" | "labels") => {
    const entries = Object.entries(after.metadata[kind]).filter(
      ([key, value]) => before.metadata[kind][key] !== value,
    );
    return entries.length === 0 ? {} : { [kind]: inOrder(entries) };
  };
  const patch = goJson({ metadata: { ...changed("annotations"), ...changed("labels") } });
  return `failed to patch status ${quoteGo(patch)} for node ${quoteGo(after.metadata.name)}`;
}

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

const failedUpdate = (kind: string, lowerKind: string, problem: string) =>
  `error updating ${kind} object with CSI driver node info: error updating ${lowerKind}: timed out waiting for the condition; caused by: ${problem}`;
