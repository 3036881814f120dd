import { randomUUID } from "node:crypto";
import { RegistrarError } from "../base/errors";
import { invalidCsiNodeDriver, invalidLabels } from "../kubelet-rules/api-validation";
import type { KubeletBehaviour } from "../kubelet-rules/versions";
import { type CsiNodeObject, createCsiNode, type DriverOnNode, withDriver, withoutDriver } from "./csi-node";
import type { Emit } from "./kubelet-events";
import { createNode, type NodeObject, withNodeId, withoutNodeId, withTopologyLabels } from "./node";

/** The two objects that a registration changes, as the API server keeps them: they outlive a kubelet restart. */
export interface NodeInfoManager {
  node(): NodeObject;
  csiNode(): CsiNodeObject;
  /** Writes a driver into both objects. Throws REFUSED, in kubelet's words. */
  install(driver: DriverOnNode): void;
  /** Removes it again; its topology labels stay. */
  uninstall(driverName: string): void;
}

export interface NodeInfoManagerOptions {
  readonly nodeName: string;
  /** Labels that the node has from the start. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly behaviour: KubeletBehaviour;
  readonly emit: Emit;
}

/**
 * Makes the objects of one node. It changes the Node first, completely or not at all, and then CSINode: a driver that
 * CSINode rejects leaves its labels behind. Kubelet tries four times in 0.3 s. Here once is enough: nobody else writes.
 * Source: `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
 */
export function createNodeInfoManager(options: NodeInfoManagerOptions): NodeInfoManager {
  const { nodeName, behaviour, emit } = options;
  const uid = randomUUID();
  let node = createNode(nodeName, uid, options.nodeLabels);
  let csiNode = createCsiNode(nodeName, uid);

  const setNode = (next: NodeObject) => {
    if (next === node) return;
    node = next;
    emit({ kind: "node-changed", node });
  };
  const setCsiNode = (next: CsiNodeObject) => {
    if (next === csiNode) return;
    csiNode = next;
    emit({ kind: "csi-node-changed", csiNode });
  };

  return {
    node: () => node,
    csiNode: () => csiNode,
    install: (driver) => {
      if (driver.nodeId === "") {
        throw new RegistrarError(
          "REFUSED",
          "error adding CSI driver node info: driverNodeID must not be empty",
        );
      }
      setNode(
        updated("Node", "node", invalidLabels(nodeName, driver.topology), () =>
          withTopologyLabels(withNodeId(node, driver.name, driver.nodeId), driver.topology),
        ),
      );
      setCsiNode(
        updated("CSINode", "CSINode", invalidCsiNodeDriver(nodeName, driver, behaviour.maxNodeIdBytes), () =>
          withDriver(csiNode, driver, behaviour),
        ),
      );
    },
    uninstall: (driverName) => {
      setCsiNode(withoutDriver(csiNode, driverName));
      setNode(withoutNodeId(node, driverName));
    },
  };
}

function updated<Updated>(
  kind: string,
  lowerKind: string,
  invalid: string | undefined,
  update: () => Updated,
): Updated {
  try {
    if (invalid !== undefined) throw new RegistrarError("REFUSED", invalid);
    return update();
  } catch (error) {
    if (!(error instanceof RegistrarError)) throw error;
    const where = `error updating ${kind} object with CSI driver node info: error updating ${lowerKind}`;
    throw new RegistrarError(
      "REFUSED",
      `${where}: timed out waiting for the condition; caused by: ${error.message}`,
    );
  }
}
