import { quoteGo } from "../../logging/escape";

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

/**
 * Why the API server would reject the second CSINode in place of the first: the entry of a driver may come and go, and
 * change in its volume limit at most. Undefined: it would not.
 * Source: `ValidateCSINodeUpdate` in `pkg/apis/storage/validation/validation.go`.
 */
export function changedDriver(
  before: CsiNodeObject,
  after: CsiNodeObject,
  rules: { readonly updatesVolumeLimits: boolean },
): string | undefined {
  const compared = ({ name, nodeID, topologyKeys, allocatable }: CsiNodeDriver) =>
    JSON.stringify({
      Name: name,
      NodeID: nodeID,
      TopologyKeys: topologyKeys,
      Allocatable: rules.updatesVolumeLimits || !allocatable ? null : { Count: allocatable.count },
    });
  const entries = new Map(before.spec.drivers.map((driver) => [driver.name, compared(driver)]));
  const changed = after.spec.drivers.find(
    (driver) => (entries.get(driver.name) ?? compared(driver)) !== compared(driver),
  );
  return (
    changed &&
    `CSINode.storage.k8s.io ${quoteGo(after.metadata.name)} is invalid: spec.drivers: Invalid value: ${compared(changed)}: field is immutable`
  );
}

/** The CSINode without this driver; the same object if it was not in it. The CSINode itself stays. */
export function withoutDriver(csiNode: CsiNodeObject, driverName: string): CsiNodeObject {
  const drivers = csiNode.spec.drivers.filter(({ name }) => name !== driverName);
  return drivers.length === csiNode.spec.drivers.length ? csiNode : { ...csiNode, spec: { drivers } };
}

/**
 * Kubernetes' CSIDriver, which tells a cluster about a driver, with every default. Kubelet uses the same defaults without
 * the object; nothing on a node creates one.
 * Sources: `SetDefaults_CSIDriver` in `pkg/apis/storage/v1/defaults.go`; `skipAttach` and `podInfoEnabled` in
 * `pkg/volume/csi/csi_plugin.go`, `getFSGroupPolicy` and `supportsVolumeLifecycleMode` in `csi_mounter.go`.
 */
export function defaultCsiDriver(name: string) {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name },
    spec: {
      attachRequired: true,
      podInfoOnMount: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      storageCapacity: false,
      requiresRepublish: false,
    },
  };
}
