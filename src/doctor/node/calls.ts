import type { Client } from "@grpc/grpc-js";
import { attempt, messageOf } from "../../base/errors";
import { callUnary, createUnixClient } from "../../grpc/client/unary";
import { type PluginIdentity, protos, type Unary } from "../../grpc/protos";
import { grpcCodeName, statusCodeOf } from "../../grpc/status";
import { boundTexts } from "../../logging/escape";
import { REASON_KEY, SELF_CHECK_KEY, SINCE_KEY, STATE_KEY } from "../../registrar/registration/self-check";
import type { Answer, DriverFacts, RegistrationFacts, RegistrationReport, SocketFacts } from "./facts";

/**
 * Kubelet gives NodeGetInfo 2 minutes (`csiTimeout` in `csi_plugin.go`), other calls a second: it gets more time here
 * too.
 */
const NODE_GET_INFO_FACTOR = 10;

const NOT_ASKED = { kind: "not-asked" } as const;

/** Asks what kubelet and registrars ask; nothing that changes anything. */
export interface Questioner {
  /** A driver, all that registration depends on. */
  askDriver(socket: SocketFacts): Promise<DriverFacts>;
  /** A driver, its name and version. */
  askIdentity(socket: SocketFacts): Promise<Answer<PluginIdentity>>;
  /** A plugin on a registration socket, in a call that is marked as not kubelet's. */
  askRegistration(socketPath: string): Promise<RegistrationAnswer>;
}

export type RegistrationAnswer = Pick<RegistrationFacts, "info" | "report">;
type EmptyRequest = Readonly<Record<string, never>>;

/** Makes one who waits `timeoutMs` at most for an answer, for that of NodeGetInfo ten times as long. */
export function createQuestioner(timeoutMs: number): Questioner {
  const { identity, node, registration } = protos;
  const ask = <Response>(client: Client, method: Unary<EmptyRequest, Response>, factor = 1) =>
    answerOf(callUnary(client, method, {}, { timeoutMs: timeoutMs * factor }));

  return {
    askIdentity: (socket) =>
      withClient<Answer<PluginIdentity>>(socket, NOT_ASKED, (client) => ask(client, identity.GetPluginInfo)),
    askDriver: (socket) => {
      const silent: DriverFacts = { socket, identity: NOT_ASKED, probe: NOT_ASKED, nodeInfo: NOT_ASKED };
      return withClient(socket, silent, async (client) => {
        const told = await ask(client, identity.GetPluginInfo);
        if (told.kind === "failed") return { ...silent, identity: told };
        const probe = ask(client, identity.Probe);
        const nodeInfo = ask(client, node.NodeGetInfo, NODE_GET_INFO_FACTOR);
        return { socket, identity: told, probe: await probe, nodeInfo: await nodeInfo };
      });
    },
    askRegistration: (socketPath) =>
      useClient(socketPath, async (client) => {
        let report: RegistrationReport | undefined;
        const call = callUnary(
          client,
          registration.GetInfo,
          {},
          {
            timeoutMs,
            metadata: { [SELF_CHECK_KEY]: "1" },
            onHeaders: (headers) => {
              report = reportIn(headers);
            },
          },
        );
        return { info: await answerOf(call), report };
      }),
  };
}

async function withClient<Result>(
  socket: SocketFacts,
  otherwise: Result,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
  return socket.kind === "accepting" ? useClient(socket.path, use) : otherwise;
}

async function useClient<Result>(
  socketPath: string,
  use: (client: Client) => Promise<Result>,
): Promise<Result> {
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

/** What a registrar of ours says of itself in the headers of its answer; undefined of all others. */
function reportIn(headers: Readonly<Record<string, string>>): RegistrationReport | undefined {
  const { [STATE_KEY]: state, [SINCE_KEY]: since, [REASON_KEY]: reason } = headers;
  if (state === undefined) return undefined;
  return boundTexts({
    state,
    since: since !== undefined && /^\d+$/.test(since) ? Number(since) : undefined,
    reason: reason === undefined ? undefined : (attempt(() => decodeURIComponent(reason)) ?? reason),
  });
}
