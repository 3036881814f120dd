import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { type Client, status } from "@grpc/grpc-js";
import { attempt, messageOf } from "../../../../base/errors";
import { callUnary, createUnixClient, type UnaryCallOptions } from "../../../../grpc/client/unary";
import { type ListPodsResponse, protos, type Unary } from "../../../../grpc/protos";
import { grpcCodeName, statusCodeOf } from "../../../../grpc/status";
import { decodeReport, REPORT_KEY, SELF_CHECK_KEY } from "../../../../registrar/registration/self-check";
import { type Answer, announces, type SeenDriver, type SocketFacts } from "./facts";

// Calls that kubelet and registrars make, none of which changes anything. Each takes `timeoutMs` at most.

/** Kubelet gives NodeGetInfo 2 minutes (`csiTimeout` in `csi_plugin.go`), other calls a second. */
const NODE_GET_INFO_FACTOR = 10;

/** Room for 500 pods of 64 KiB each. */
const MAX_PODS_BYTES = 32 * 1024 * 1024;

const MOST_TRIES = 10;

export async function askIdentity(socket: SocketFacts, timeoutMs: number) {
  if (socket.kind !== "accepting") return undefined;
  return withClient(socket.path, (client) => ask(client, protos.identity.GetPluginInfo, { timeoutMs }));
}

export async function askDriver(socket: SocketFacts, timeoutMs: number): Promise<SeenDriver> {
  const identity = await askIdentity(socket, timeoutMs);
  if (identity?.kind !== "answered") return { socket, identity };
  return withClient(socket.path, async (client) => {
    const [probe, nodeInfo, health] = await Promise.all([
      ask(client, protos.identity.Probe, { timeoutMs }),
      ask(client, protos.node.NodeGetInfo, { timeoutMs: timeoutMs * NODE_GET_INFO_FACTOR }),
      askHealth(client, timeoutMs),
    ]);
    return { socket, identity, probe, nodeInfo, ...health };
  });
}

/** Asks what the node plugin can do, and how its storage is if it can tell (CSI 1.13, alpha). */
async function askHealth(client: Client, timeoutMs: number) {
  const { NodeGetCapabilities, NodeGetStorageHealth } = protos.node;
  const capabilities = await ask(client, NodeGetCapabilities, { timeoutMs });
  const storageHealth = announces(capabilities, "GET_STORAGE_HEALTH")
    ? await ask(client, NodeGetStorageHealth, { timeoutMs })
    : undefined;
  return { capabilities, storageHealth };
}

/** Asks kubelet for the pods of this node. Each such call is a line in kubelet's log. */
export function askPods(socketPath: string, timeoutMs: number): Promise<Answer<ListPodsResponse>> {
  const list = (client: Client) => ask(client, protos.pods.ListPods, { timeoutMs });
  return withClient(socketPath, list, { "grpc.max_receive_message_length": MAX_PODS_BYTES });
}

/** Asks the plugin on a registration socket, in a call that is marked as not kubelet's. */
export function askRegistration(socketPath: string, timeoutMs: number) {
  return withClient(socketPath, async (client) => {
    let report: ReturnType<typeof decodeReport>;
    const onHeaders = (headers: Readonly<Record<string, string>>) => {
      report = decodeReport(headers[REPORT_KEY]);
    };
    const options = { timeoutMs, metadata: { [SELF_CHECK_KEY]: "1" }, onHeaders };
    const info = await ask(client, protos.registration.GetInfo, options);
    return { info, report };
  });
}

async function withClient<Result>(
  socketPath: string,
  use: (client: Client) => Promise<Result>,
  options?: Parameters<typeof createUnixClient>[1],
) {
  const client = createUnixClient(socketPath, options);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** Asks again as long as the deadline ran out while this process was too busy, or without a CPU, to read an answer. */
async function ask<Value>(
  client: Client,
  method: Unary<object, Value>,
  options: UnaryCallOptions,
): Promise<Answer<Value>> {
  for (let tried = 1; ; tried++) {
    const beforeMs = waitedMs();
    try {
      return { kind: "answered", value: await callUnary(client, method, {}, options) };
    } catch (error) {
      const code = statusCodeOf(error);
      const wasReady = waitedMs() - beforeMs >= options.timeoutMs / 2;
      if (code !== status.DEADLINE_EXCEEDED || wasReady || tried === MOST_TRIES)
        return { kind: "failed", code: grpcCodeName(code), message: messageOf(error) };
    }
  }
}

/** How long this process has had nothing to do, in milliseconds, without the time in which it waited for a CPU. */
function waitedMs(): number {
  const [, nanoseconds] = (attempt(() => readFileSync("/proc/self/schedstat", "utf8")) ?? "").split(" ");
  return performance.eventLoopUtilization().idle - Number(nanoseconds ?? 0) / 1e6;
}
