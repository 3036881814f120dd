import type { Client } from "@grpc/grpc-js";
import { attempt, messageOf } from "../../base/errors";
import { callUnary, createUnixClient } from "../../grpc/client/unary";
import { type PluginIdentity, protos } from "../../grpc/protos";
import { grpcCodeName, statusCodeOf } from "../../grpc/status";
import { boundTexts } from "../../logging/escape";
import { REASON_KEY, SELF_CHECK_KEY, SINCE_KEY, STATE_KEY } from "../../registrar/registration/self-check";
import type { Answer, DriverFacts, RegistrationFacts, RegistrationReport, SocketFacts } from "./facts";

// Calls that kubelet and registrars make, none of which changes anything. Each takes `timeoutMs` at most.

/** Kubelet gives NodeGetInfo 2 minutes (`csiTimeout` in `csi_plugin.go`), other calls a second. */
const NODE_GET_INFO_FACTOR = 10;

const NOT_ASKED = { kind: "not-asked" } as const;

export async function askIdentity(socket: SocketFacts, timeoutMs: number): Promise<Answer<PluginIdentity>> {
  if (socket.kind !== "accepting") return NOT_ASKED;
  return withClient(socket.path, (client) =>
    answerOf(callUnary(client, protos.identity.GetPluginInfo, {}, { timeoutMs })),
  );
}

/** Asks a driver for all that registration depends on; NodeGetInfo may take ten times as long. */
export async function askDriver(socket: SocketFacts, timeoutMs: number): Promise<DriverFacts> {
  const identity = await askIdentity(socket, timeoutMs);
  if (identity.kind !== "answered") return { socket, identity, probe: NOT_ASKED, nodeInfo: NOT_ASKED };
  return withClient(socket.path, async (client) => {
    const nodeInfoMs = timeoutMs * NODE_GET_INFO_FACTOR;
    const [probe, nodeInfo] = await Promise.all([
      answerOf(callUnary(client, protos.identity.Probe, {}, { timeoutMs })),
      answerOf(callUnary(client, protos.node.NodeGetInfo, {}, { timeoutMs: nodeInfoMs })),
    ]);
    return { socket, identity, probe, nodeInfo };
  });
}

/** Asks the plugin on a registration socket, in a call that is marked as not kubelet's. */
export function askRegistration(
  socketPath: string,
  timeoutMs: number,
): Promise<Pick<RegistrationFacts, "info" | "report">> {
  return withClient(socketPath, async (client) => {
    let report: RegistrationReport | undefined;
    const onHeaders = (headers: Readonly<Record<string, string>>) => {
      report = reportIn(headers);
    };
    const options = { timeoutMs, metadata: { [SELF_CHECK_KEY]: "1" }, onHeaders };
    const info = await answerOf(callUnary(client, protos.registration.GetInfo, {}, options));
    return { info, report };
  });
}

async function withClient<Result>(socketPath: string, use: (client: Client) => Promise<Result>) {
  const client = createUnixClient(socketPath);
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

/** What a registrar of this project says of itself in the headers of its answer. */
function reportIn(headers: Readonly<Record<string, string>>): RegistrationReport | undefined {
  const { [STATE_KEY]: state, [SINCE_KEY]: since, [REASON_KEY]: reason } = headers;
  if (state === undefined) return undefined;
  return boundTexts({
    state,
    since: since !== undefined && /^\d+$/.test(since) ? Number(since) : undefined,
    reason: reason === undefined ? undefined : (attempt(() => decodeURIComponent(reason)) ?? reason),
  });
}
