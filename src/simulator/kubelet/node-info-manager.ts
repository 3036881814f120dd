import { randomUUID } from "node:crypto";
import { RegistrarError } from "../../base/errors";
import { invalidCsiNodeDriver, invalidLabels } from "../../kubelet-rules/api-validation";
import type { KubeletBehaviour } from "../../kubelet-rules/versions";
import {
  type CsiNodeObject,
  changedDriver,
  createCsiNode,
  type DriverOnNode,
  withDriver,
  withoutDriver,
} from "./csi-objects";
import type { Emit } from "./events";
import {
  createNode,
  type NodeObject,
  topologyCollision,
  withNodeId,
  withoutNodeId,
  withTopologyLabels,
} from "./node";
import type { ResolvedKubeletOptions } from "./options";

/** The two objects that a registration changes, as the API server keeps them: they outlive a kubelet restart. */
export type NodeInfoManager = ReturnType<typeof createNodeInfoManager>;

/**
 * Makes the objects of one node. It changes the Node first, completely or not at all, and then CSINode: a driver that
 * CSINode rejects leaves its labels behind. Kubelet tries four times in 0.3 s. Here one try is enough, because nothing
 * else writes to the objects.
 * Source: `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
 */
export function createNodeInfoManager(
  { nodeName, nodeLabels }: Pick<ResolvedKubeletOptions, "nodeName" | "nodeLabels">,
  behaviour: KubeletBehaviour,
  emit: Emit,
) {
  const uid = randomUUID();
  let node = createNode(nodeName, uid, nodeLabels);
  let csiNode = createCsiNode(nodeName, uid);

  // Callers and listeners get copies: what they change must not change the simulation.
  const nodeCopy = () => copyOf(node);
  const csiNodeCopy = () => copyOf(csiNode);

  const setNode = (next: NodeObject) => {
    if (next === node) return;
    node = next;
    emit({ kind: "node-changed", node: nodeCopy() });
  };
  const setCsiNode = (next: CsiNodeObject) => {
    if (next === csiNode) return;
    csiNode = next;
    emit({ kind: "csi-node-changed", csiNode: csiNodeCopy() });
  };

  const updateCsiNode = (driver: DriverOnNode) => {
    const next = withDriver(csiNode, driver, behaviour);
    const problem =
      invalidCsiNodeDriver(nodeName, driver, behaviour.maxNodeIdBytes) ??
      changedDriver(csiNode, next, behaviour);
    refuseUpdate("CSINode", "CSINode", problem);
    setCsiNode(next);
  };

  return {
    node: nodeCopy,
    csiNode: csiNodeCopy,
    /** Writes a driver into both objects. Throws REFUSED, in kubelet's words. */
    install: (driver: DriverOnNode): void => {
      const { name, nodeId, topology } = driver;
      if (nodeId === "") {
        const text = "error adding CSI driver node info: driverNodeID must not be empty";
        throw new RegistrarError("REFUSED", text);
      }
      refuseUpdate("Node", "node", invalidLabels(nodeName, topology) ?? topologyCollision(node, topology));
      setNode(withTopologyLabels(withNodeId(node, name, nodeId), topology));
      updateCsiNode(driver);
    },
    /** Writes a driver into the CSINode alone, as at an update of its volume limit. Throws REFUSED, in kubelet's words. */
    updateCsiNode,
    /** Removes a driver from both objects; its topology labels stay. */
    uninstall: (driverName: string): void => {
      setCsiNode(withoutDriver(csiNode, driverName));
      setNode(withoutNodeId(node, driverName));
    },
  };
}

/** Not by `structuredClone`: until jest 30.4 its objects fail toStrictEqual (jestjs/jest#14011). */
const copyOf = <Value>(object: Value): Value => JSON.parse(JSON.stringify(object)) as Value;

function refuseUpdate(kind: string, lowerKind: string, problem: string | undefined): void {
  if (problem === undefined) return;
  const where = `error updating ${kind} object with CSI driver node info: error updating ${lowerKind}`;
  const text = `${where}: timed out waiting for the condition; caused by: ${problem}`;
  throw new RegistrarError("REFUSED", text);
}
