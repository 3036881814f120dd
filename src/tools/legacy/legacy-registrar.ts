import { randomUUID } from "node:crypto";
import { RegistrarError } from "../../base/errors";
import { callUnary } from "../../grpc/client/unary";
import { protos } from "../../grpc/protos";
import { escapeUnprintable } from "../../logging/escape";
import { connected, createKubeletClient, goRpcError } from "../../simulator/kubelet/calls";
import { createNode, withNodeIds } from "../../simulator/kubelet/objects";

/** driver-registrar's modes: on every node it annotated the Node, once in a cluster it created a CSIDriver. */
export const LEGACY_MODES = ["node-register", "kubernetes-register"] as const;

/** The default of `--connection-timeout` in that release. */
const CONNECT_MS = 60_000;
const CALL_MS = 1_000;

/**
 * Asks a CSI driver what driver-registrar asked it before kubelet could, as of Kubernetes 1.12 and CSI 1.0.0, and answers
 * the object that it wrote to the API server. Rejects with DRIVER_TIMEOUT if the driver does not answer, and with ABORTED.
 * Source: `cmd/driver-registrar/{main,node_register,k8s_register}.go` of kubernetes-csi/driver-registrar, end of 2018.
 */
export async function legacyObject(
  mode: (typeof LEGACY_MODES)[number],
  csiAddress: string,
  nodeName: string,
  signal: AbortSignal,
): Promise<object> {
  const { identity, node } = protos;
  // Its grpc-go sent the address as the authority, as kubelets up to 1.24 do.
  const client = createKubeletClient(csiAddress, csiAddress);
  const limits = { timeoutMs: CALL_MS, signal };
  try {
    await connected(client, CONNECT_MS, signal);
    const { name } = await callUnary(client, identity.GetPluginInfo, {}, limits);
    if (mode === "kubernetes-register")
      return {
        apiVersion: "csi.storage.k8s.io/v1alpha1", // A custom resource until Kubernetes 1.14.
        kind: "CSIDriver",
        metadata: { name },
        spec: { attachRequired: true, podInfoOnMountVersion: "" },
      };
    const { nodeId } = await callUnary(client, node.NodeGetInfo, {}, limits);
    const bare = createNode(nodeName, randomUUID(), { "kubernetes.io/hostname": nodeName });
    return withNodeIds(bare, { [name]: nodeId });
  } catch (cause) {
    if (signal.aborted) throw new RegistrarError("ABORTED", "stopped before the driver answered", { cause });
    const text = `the CSI driver did not answer: ${escapeUnprintable(goRpcError(cause, csiAddress))}`;
    throw new RegistrarError("DRIVER_TIMEOUT", text, { cause });
  } finally {
    client.close();
  }
}
