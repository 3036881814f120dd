import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { performance } from "node:perf_hooks";
import { type ChannelOptions, type Client, status } from "@grpc/grpc-js";
import { attempt, errnoOf, messageOf } from "../../../../base/errors";
import { connectErrorOf, isTooLarge } from "../../../../grpc/client/answer";
import { spokenOn } from "../../../../grpc/client/first-frame";
import { callUnary, createUnixClient, type UnaryCallOptions } from "../../../../grpc/client/unary";
import { identityMethods, registrationMethods } from "../../../../grpc/methods";
import type { Unary } from "../../../../grpc/protos";
import { grpcCodeName, statusCodeOf } from "../../../../grpc/status";
import { decodeReport, REPORT_KEY, SELF_CHECK_KEY } from "../../../../registrar/registration/self-report";
import { whyOf } from "../../findings/seen";
import { type Answer, type Call, type SeenDriver, type SeenPlugin, unreadAt, WAITS } from "./facts";
import { withShortPath } from "./files";
import { isTelling, type SocketFacts } from "./socket";

// Calls that kubelet and registrars make, none of which changes anything. Each takes `timeoutMs` at most. Loaded when a socket
// is there to be called, and what reads any message, which takes as long to load again, when NodeGetInfo is.

/** Kubelet waits longer for this call than for others. */
const NODE_GET_INFO_FACTOR = 10;
/** The server has the deadline too, and its clock may be first. */
const DEADLINE_PART = 0.9;

/**
 * Kubelet writes the topology into the Node's labels, which the API server stores in the same encoding; an object has at most
 * 1.5 MiB (etcd's `--max-request-bytes`).
 */
const MAX_NODE_INFO = { "grpc.max_receive_message_length": 1.5 * 2 ** 20 };

const MOST_TRIES = 10;

/** How a call fails that had no HTTP/2 connection; other calls may fail so, too. */
const UNSPOKEN: readonly string[] = ["Unavailable", "DeadlineExceeded"];

export async function askIdentity({ kind, path }: SocketFacts, timeoutMs: number) {
  if (kind !== "accepting") return undefined;
  const { GetPluginInfo } = identityMethods;
  return withClient(path, (dialled) => ask(dialled, GetPluginInfo, { timeoutMs })).catch((error: unknown) =>
    unreadAt("GetPluginInfo", path, whyOf(error)),
  );
}

export async function askDriver(socket: SocketFacts, timeoutMs: number): Promise<SeenDriver> {
  const { path } = socket;
  const identity = await askIdentity(socket, timeoutMs);
  if (identity?.kind === "failed" && UNSPOKEN.includes(identity.code)) {
    const listen = (short: string) => spokenOn(short, Math.min(timeoutMs, WAITS.GetPluginInfo.ms));
    return { socket, identity, spoken: await withShortPath(path, listen).catch(() => undefined) };
  }
  if (identity?.kind === "failed") return { socket, identity, spoken: "http2" };
  if (identity?.kind !== "answered") return { socket, identity };
  const options = { timeoutMs: timeoutMs * NODE_GET_INFO_FACTOR };
  const askNode = async (dialled: Dialled) => {
    const { protos } = await import("../../../../grpc/protos");
    return ask(dialled, protos.node.NodeGetInfo, options);
  };
  const nodeInfo = await withClient(path, askNode, MAX_NODE_INFO).catch((error: unknown) =>
    unreadAt("NodeGetInfo", path, whyOf(error)),
  );
  return { socket, identity, spoken: "http2", nodeInfo };
}

/** Asks the plugin on a registration socket, in a call that is marked as not kubelet's. */
export function askRegistration(socketPath: string, timeoutMs: number) {
  return withClient(socketPath, async (dialled): Promise<Answer<SeenPlugin>> => {
    let header: string | undefined;
    const onHeaders = (headers: Readonly<Record<string, string>>) => {
      header = headers[REPORT_KEY];
    };
    const options = { timeoutMs, metadata: { [SELF_CHECK_KEY]: "1" }, onHeaders };
    const info = await ask(dialled, registrationMethods.GetInfo, options);
    if (info.kind !== "answered") return info;
    try {
      return { kind: "answered", value: { ...info.value, report: decodeReport(header) } };
    } catch (error) {
      return unreadAt("GetInfo", socketPath, whyOf(error));
    }
  });
}

interface Dialled {
  readonly client: Client;
  readonly socketPath: string;
  readonly wasConnected: () => boolean;
}

const withClient = <Result>(
  socketPath: string,
  use: (dialled: Dialled) => Promise<Result>,
  limits?: ChannelOptions,
) =>
  withShortPath(socketPath, async (short) => {
    let isConnected = false;
    const client = createUnixClient(short, limits, () => {
      isConnected = true;
    });
    try {
      return await use({ client, socketPath, wasConnected: () => isConnected });
    } finally {
      client.close();
    }
  });

/** Asks again as long as the deadline ran out while this process was too busy, or without a CPU, to read an answer. */
async function ask<Value>(
  { client, socketPath, wasConnected }: Dialled,
  method: Unary<object, Value>,
  options: UnaryCallOptions,
): Promise<Answer<Value>> {
  const { timeoutMs } = options;
  const call = basename(method.path) as Call;
  for (let tried = 1; ; tried++) {
    const [startedMs, beforeMs] = [performance.now(), waitedMs()];
    try {
      return { kind: "answered", value: await callUnary(client, method, {}, options) };
    } catch (error) {
      const code = statusCodeOf(error);
      const tookMs = performance.now() - startedMs;
      const isLate = code === status.DEADLINE_EXCEEDED && tookMs >= timeoutMs * DEADLINE_PART;
      const isStarved = isLate && waitedMs() - beforeMs < timeoutMs / 2;
      if (isStarved && tried < MOST_TRIES) continue;
      if (isStarved) return unreadAt(call, socketPath, { kind: "starved" });
      // The driver's own words may have an errno, too.
      const errno = wasConnected() ? undefined : errnoOf(connectErrorOf(error));
      if (errno !== undefined && !isTelling(errno)) return unreadAt(call, socketPath, errno);
      const { who, ms: waitsMs } = WAITS[call];
      const late = isLate ? { afterMs: timeoutMs, who, waitsMs } : undefined;
      const failure = { call, code: grpcCodeName(code), message: messageOf(error), late };
      if (late === undefined || timeoutMs >= waitsMs)
        return { kind: "failed", ...failure, isTooLarge: isTooLarge(error) };
      return unreadAt(call, socketPath, { kind: "call", ...failure });
    }
  }
}

/** How long this process has had nothing to do, in milliseconds, without the time in which it waited for a CPU. */
function waitedMs(): number {
  const [, nanoseconds] = (attempt(() => readFileSync("/proc/self/schedstat", "utf8")) ?? "").split(" ");
  return performance.eventLoopUtilization().idle - Number(nanoseconds ?? 0) / 1e6;
}
