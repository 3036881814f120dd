import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { RegistrarError } from "../errors";
import { protos, type Unary } from "../grpc/protos";
import { callUnary } from "../grpc/unary";
import { goRpcError } from "./go-text";
import { connected, createKubeletClient } from "./kubelet-client";
import { createNode, type NodeObject, withNodeId } from "./node";

/** What driver-registrar had to do. */
export type LegacyMode =
  /** On every node: asks the driver for its node ID and writes that into the Node's annotation. */
  | "node-register"
  /** Once in a cluster: creates a CSIDriver object. */
  | "kubernetes-register";

export const LEGACY_MODES: readonly LegacyMode[] = ["node-register", "kubernetes-register"];

/** CSIDriver as a custom resource, before Kubernetes 1.14 made it an object of its own. */
interface LegacyCsiDriverObject {
  readonly apiVersion: "csi.storage.k8s.io/v1alpha1";
  readonly kind: "CSIDriver";
  readonly metadata: { readonly name: string };
  readonly spec: { readonly attachRequired: boolean; readonly podInfoOnMountVersion: string };
}

export interface LegacyRegistrationOptions {
  readonly mode: LegacyMode;
  readonly csiAddress: string;
  readonly nodeName: string;
  /** Ends the wait for the driver. */
  readonly signal: AbortSignal;
}

/** The default of `--connection-timeout` in that release. */
const CONNECT_MS = 60_000;
const CALL_MS = 1_000;

/**
 * Asks a CSI driver what driver-registrar asked it before kubelet could, as of Kubernetes 1.12 and CSI 1.0.0, and answers
 * the object that it wrote to the API server: there was no registration socket and no CSINode.
 *
 * Rejects with DRIVER_TIMEOUT if the driver does not answer, which was fatal in that release, and with ABORTED.
 * Source: `cmd/driver-registrar/{main,node_register,k8s_register}.go` of kubernetes-csi/driver-registrar, end of 2018.
 */
export async function legacyObject({
  mode,
  nodeName,
  signal,
  ...options
}: LegacyRegistrationOptions): Promise<NodeObject | LegacyCsiDriverObject> {
  const csiAddress = resolve(options.csiAddress);
  const { identity, node } = protos;
  // Its grpc-go sent the address as the authority, as kubelets up to 1.24 do.
  const client = createKubeletClient(csiAddress, csiAddress);
  const ask = <Answer>(method: Unary<Readonly<Record<string, never>>, Answer>) =>
    callUnary(client, method, {}, { timeoutMs: CALL_MS, signal });
  try {
    await connected(client, CONNECT_MS, signal);
    const { name } = await ask(identity.GetPluginInfo);
    if (mode === "kubernetes-register")
      return {
        apiVersion: "csi.storage.k8s.io/v1alpha1",
        kind: "CSIDriver",
        metadata: { name },
        spec: { attachRequired: true, podInfoOnMountVersion: "" },
      };
    const { nodeId } = await ask(node.NodeGetInfo);
    return withNodeId(
      createNode(nodeName, randomUUID(), { "kubernetes.io/hostname": nodeName }),
      name,
      nodeId,
    );
  } catch (cause) {
    if (signal.aborted) throw new RegistrarError("ABORTED", "stopped before the driver answered", { cause });
    const text = `the CSI driver did not answer: ${goRpcError(cause, csiAddress)}`;
    throw new RegistrarError("DRIVER_TIMEOUT", text, { cause });
  } finally {
    client.close();
  }
}
