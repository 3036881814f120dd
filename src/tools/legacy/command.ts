import { randomUUID } from "node:crypto";
import { RegistrarError } from "../../base/errors";
import { choiceFlag, outputFlag, socketFlag, textFlag } from "../../flags/kinds";
import { callUnary } from "../../grpc/client/unary";
import { protos } from "../../grpc/protos";
import { connected, createKubeletClient, goRpcError } from "../../simulator/kubelet/calls";
import { createNode, withNodeIds } from "../../simulator/kubelet/objects";
import { createCommand } from "../command-line";
import { createObjectPrinter, writeLine } from "../event-lines";
import { unlessStopped, untilStopped } from "../foreground";

/** driver-registrar's modes: on every node it annotated the Node, once in a cluster it created a CSIDriver. */
const LEGACY_MODES = ["node-register", "kubernetes-register"] as const;

/** The default of `--connection-timeout` in that release. */
const CONNECT_MS = 60_000;
const CALL_MS = 1_000;

export const runLegacy = createCommand(
  {
    name: "legacy",
    describe: [
      "Shows what driver-registrar did in 2018, before kubelet registered drivers: it asks the driver the same, and",
      "prints the object that was written to the API server then. It writes nothing itself.",
    ].join(" "),
    flags: {
      "csi-address": { ...socketFlag("the driver's socket"), required: true },
      mode: { ...choiceFlag("what driver-registrar had to do", LEGACY_MODES), default: "node-register" },
      node: { ...textFlag("the node's name"), default: "node-1" },
      output: outputFlag("form of the object", ["yaml", "json"]),
    },
    examples: [
      "legacy --csi-address /tmp/csi.sock",
      "legacy --csi-address /tmp/csi.sock --mode kubernetes-register -o json",
    ],
    notes: [
      "node-register ran on every node, and annotated the Node; kubernetes-register ran once, and created a CSIDriver.",
      "Exit codes: 0 printed, or stopped by a signal; 1 no answer within a minute; 2 bad flag.",
    ],
  },
  async ({ csiAddress, mode, node, output }) => {
    const object = await unlessStopped(legacyObject(mode, csiAddress, node, untilStopped()));
    if (object === undefined) return 0;
    if (output === "json") writeLine(JSON.stringify(object));
    else (await createObjectPrinter())(object);
    return 0;
  },
);

/**
 * Asks a CSI driver what driver-registrar asked it before kubelet could, as of Kubernetes 1.12 and CSI 1.0.0, and answers
 * the object that it wrote to the API server. Rejects with DRIVER_TIMEOUT if the driver does not answer, and with ABORTED.
 * Source: `cmd/driver-registrar/{main,node_register,k8s_register}.go` of kubernetes-csi/driver-registrar, end of 2018.
 */
async function legacyObject(
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
    const text = `the CSI driver did not answer: ${goRpcError(cause, csiAddress)}`;
    throw new RegistrarError("DRIVER_TIMEOUT", text, { cause });
  } finally {
    client.close();
  }
}
