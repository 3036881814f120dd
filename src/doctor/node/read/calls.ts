import type { Client } from "@grpc/grpc-js";
import { messageOf } from "../../../base/errors";
import { callUnary, createUnixClient } from "../../../grpc/client/unary";
import { type ListPodsResponse, type PluginIdentity, protos } from "../../../grpc/protos";
import { grpcCodeName, statusCodeOf } from "../../../grpc/status";
import { decodeReport, REPORT_KEY, SELF_CHECK_KEY } from "../../../registrar/registration/self-check";
import { type Answer, announces, type SeenDriver, type SocketFacts } from "./facts";

// Calls that kubelet and registrars make, none of which changes anything. Each takes `timeoutMs` at most.

/** Kubelet gives NodeGetInfo 2 minutes (`csiTimeout` in `csi_plugin.go`), other calls a second. */
const NODE_GET_INFO_FACTOR = 10;

/** Room for 500 pods of 64 KiB each. */
const MAX_PODS_BYTES = 32 * 1024 * 1024;

const NOT_ASKED = { kind: "not-asked" } as const;
const UNASKED = {
  probe: NOT_ASKED,
  nodeInfo: NOT_ASKED,
  capabilities: NOT_ASKED,
  storageHealth: NOT_ASKED,
} as const;

export async function askIdentity(socket: SocketFacts, timeoutMs: number): Promise<Answer<PluginIdentity>> {
  if (socket.kind !== "accepting") return NOT_ASKED;
  return withClient(socket.path, (client) =>
    answerOf(callUnary(client, protos.identity.GetPluginInfo, {}, { timeoutMs })),
  );
}

export async function askDriver(socket: SocketFacts, timeoutMs: number): Promise<SeenDriver> {
  const identity = await askIdentity(socket, timeoutMs);
  if (identity.kind !== "answered") return { ...UNASKED, socket, identity };
  return withClient(socket.path, async (client) => {
    const nodeInfoMs = timeoutMs * NODE_GET_INFO_FACTOR;
    const [probe, nodeInfo, health] = await Promise.all([
      answerOf(callUnary(client, protos.identity.Probe, {}, { timeoutMs })),
      answerOf(callUnary(client, protos.node.NodeGetInfo, {}, { timeoutMs: nodeInfoMs })),
      askHealth(client, timeoutMs),
    ]);
    return { socket, identity, probe, nodeInfo, ...health };
  });
}

/** Asks what the node plugin can do, and how its storage is if it can tell (CSI 1.13, alpha). */
async function askHealth(client: Client, timeoutMs: number) {
  const { NodeGetCapabilities, NodeGetStorageHealth } = protos.node;
  const capabilities = await answerOf(callUnary(client, NodeGetCapabilities, {}, { timeoutMs }));
  const storageHealth = announces(capabilities, "GET_STORAGE_HEALTH")
    ? await answerOf(callUnary(client, NodeGetStorageHealth, {}, { timeoutMs }))
    : NOT_ASKED;
  return { capabilities, storageHealth };
}

/** Asks kubelet for the pods of this node. Each such call is a line in kubelet's log. */
export function askPods(socketPath: string, timeoutMs: number): Promise<Answer<ListPodsResponse>> {
  const ask = (client: Client) => answerOf(callUnary(client, protos.pods.ListPods, {}, { timeoutMs }));
  return withClient(socketPath, ask, MAX_PODS_BYTES);
}

/** Asks the plugin on a registration socket, in a call that is marked as not kubelet's. */
export function askRegistration(socketPath: string, timeoutMs: number) {
  return withClient(socketPath, async (client) => {
    let report: ReturnType<typeof decodeReport>;
    const onHeaders = (headers: Readonly<Record<string, string>>) => {
      report = decodeReport(headers[REPORT_KEY]);
    };
    const options = { timeoutMs, metadata: { [SELF_CHECK_KEY]: "1" }, onHeaders };
    const info = await answerOf(callUnary(client, protos.registration.GetInfo, {}, options));
    return { info, report };
  });
}

async function withClient<Result>(
  socketPath: string,
  use: (client: Client) => Promise<Result>,
  maxAnswerBytes?: number,
) {
  const client = createUnixClient(socketPath, maxAnswerBytes);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

async function answerOf<Value>(call: Promise<Value>): Promise<Answer<Value>> {
  try {
    return { kind: "answered", value: await call };
  } catch (error) {
    return { kind: "failed", code: grpcCodeName(statusCodeOf(error)), message: messageOf(error) };
  }
}
