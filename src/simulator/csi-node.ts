/** Kubernetes' CSINode: which drivers a node has, and what the scheduler must know about them. */
export interface CsiNodeObject {
  readonly apiVersion: "storage.k8s.io/v1";
  readonly kind: "CSINode";
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences: readonly {
      readonly apiVersion: "v1";
      readonly kind: "Node";
      readonly name: string;
      readonly uid: string;
    }[];
  };
  readonly spec: { readonly drivers: readonly CsiNodeDriver[] };
}

export interface CsiNodeDriver {
  readonly name: string;
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

/** A CSINode as kubelet creates it at its start, without its list of migrated in-tree plugins. */
export function createCsiNode(nodeName: string, nodeUid: string): CsiNodeObject {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: {
      name: nodeName,
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid }],
    },
    spec: { drivers: [] },
  };
}

/**
 * The CSINode with this driver as the last one; the same object if nothing changed. `comparesVolumeLimit`: whether a
 * new volume limit alone is a change.
 * Source: `installDriverToCSINode` in `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
 */
export function withDriver(
  csiNode: CsiNodeObject,
  driver: DriverOnNode,
  rules: { readonly comparesVolumeLimit: boolean },
): CsiNodeObject {
  const wanted: CsiNodeDriver = {
    name: driver.name,
    nodeID: driver.nodeId,
    topologyKeys: Object.keys(driver.topology).sort(),
    ...(driver.maxVolumes > 0 && { allocatable: { count: Math.min(driver.maxVolumes, MAX_INT32) } }),
  };
  const there = csiNode.spec.drivers.find(({ name }) => name === driver.name);
  const unchanged =
    there !== undefined &&
    there.nodeID === wanted.nodeID &&
    there.topologyKeys.join() === wanted.topologyKeys.join() &&
    (!rules.comparesVolumeLimit || there.allocatable?.count === wanted.allocatable?.count);
  if (unchanged) return csiNode;
  return { ...csiNode, spec: { drivers: [...withoutDriver(csiNode, driver.name).spec.drivers, wanted] } };
}

/** The CSINode without this driver; the same object if it was not in it. The CSINode itself stays. */
export function withoutDriver(csiNode: CsiNodeObject, driverName: string): CsiNodeObject {
  const drivers = csiNode.spec.drivers.filter(({ name }) => name !== driverName);
  return drivers.length === csiNode.spec.drivers.length ? csiNode : { ...csiNode, spec: { drivers } };
}
