import { resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import {
  type ChannelOptions,
  type Client,
  connectivityState,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { messageOf, RegistrarError } from "../../base/errors";
import { followSignal, monotonicMs, pause, startTimer, stopTimer, unlessAborted } from "../../base/pause";
import { createUnixClient } from "../../grpc/client/unary";
import { HTTP2_ERRORS } from "../../grpc/guard/frames";
import type { Unary } from "../../grpc/protos";
import { grpcCodeName } from "../../grpc/status";
import { behaviourOf, type KubeletBehaviour, NEWEST_SIMULATED } from "../../kubelet-rules/versions";
import type { FaultScript } from "../simulator-options";
import type { Emit, KubeletCall } from "./events";
import type { NodeInfoManager } from "./objects";
import type { KubeletFault, ResolvedKubeletOptions } from "./options";

/**
 * A client that sends the `:authority` that a kubelet of some version would send. It still differs from grpc-go in the user
 * agent (`grpc-node-js/...`) and in two headers about compression. A relative path is relative to `/`, where kubelet runs.
 */
export function createKubeletClient(
  socketPath: string,
  authority: string,
  options: ChannelOptions = {},
): Client {
  return createUnixClient(resolve("/", socketPath), { "grpc.default_authority": authority, ...options });
}

/** A client that does not dial again after a failure. */
export const DIALS_ONCE: ChannelOptions = { "grpc.initial_reconnect_backoff_ms": 60_000 };

/**
 * Resolves when the server's first HTTP/2 frame arrives, as grpc-go's blocking dial does; until then it dials a socket
 * without a listener again and again. Rejects with ABORTED after `timeoutMs` or when aborted.
 */
export async function connected(client: Client, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const channel = client.getChannel();
  using waiting = followSignal(signal);
  const limit = startTimer(() => waiting.abort(), timeoutMs);
  try {
    // Not `waitForReady`: it looks once more after the channel was closed, which makes grpc-js (1.14) dial again.
    while (!waiting.signal.aborted) {
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return;
      const isNew = new Promise((look) =>
        channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look),
      );
      await unlessAborted(isNew, waiting.signal);
    }
    throw new RegistrarError("ABORTED", signal.aborted ? "context canceled" : "context deadline exceeded");
  } finally {
    stopTimer(limit);
  }
}

/** The method with a text that is not UTF-8 as an error, as protobuf in Go has it. */
export function inUtf8<Request, Response>(method: Unary<Request, Response>): Unary<Request, Response> {
  const isReplaced = (text: unknown) => typeof text === "string" && text.includes("\ufffd");
  return {
    ...method,
    responseDeserialize: (bytes) => {
      const response = method.responseDeserialize(bytes);
      const texts = Object.values(Object(response)).flat();
      // The replacement character may have been sent.
      if (texts.some(isReplaced) && !bytes.includes("\ufffd")) throw new Error(NOT_UTF8);
      return response;
    },
  };
}

const NOT_UTF8 = "string field contains invalid UTF-8";

/** What `run` gives; rejects as grpc-go does if the server has sent no HTTP/2 frame within `connectMs`. */
export function unlessSilent<Answer>(
  client: Client,
  connectMs: number,
  socketPath: string,
  wording: KubeletBehaviour,
  run: () => Promise<Answer>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      if (client.getChannel().getConnectivityState(false) !== connectivityState.CONNECTING) return;
      const isOld = wording.handshakeFailureWording === "connection closed";
      const why = `${wording.closedReadWording} unix @->${socketPath}: use of closed network connection`;
      const details = isOld ? "timed out waiting for server handshake" : goHandshakeFailure(why, wording);
      reject(Object.assign(new Error(details), { code: status.UNAVAILABLE, details }));
    };
    const limit = startTimer(giveUp, connectMs);
    run()
      .finally(() => stopTimer(limit))
      .then(resolve, reject);
  });
}

export type Called<Answer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: string };

export interface KubeletContext {
  readonly behaviour: KubeletBehaviour;
  readonly timings: ResolvedKubeletOptions["timings"];
  readonly nodeInfo: NodeInfoManager;
  readonly faults: FaultScript<KubeletFault>;
  readonly emit: Emit;
  /** Calls, and reports how: each is timed, and delayed on request. Never rejects. */
  readonly call: <Answer>(
    call: KubeletCall,
    socketPath: string,
    run: () => Promise<Answer>,
  ) => Promise<Called<Answer>>;
  /** Once aborted, calls end and nothing more is reported: this kubelet is gone. */
  readonly signal: AbortSignal;
}

export function createKubeletContext(surroundings: Omit<KubeletContext, "call">): KubeletContext {
  const { behaviour, emit, faults, signal } = surroundings;
  const call: KubeletContext["call"] = async (call, socketPath, run) => {
    const slow = faults.take("slow", ({ before }) => before === call, socketPath);
    if (slow) await pause(slow.delayMs, signal);
    if (signal.aborted) return { kind: "error", error: "context canceled" };
    emit({ kind: "calling", call, socketPath });
    const startedAt = monotonicMs();
    const called = await run().then(
      (answer) => ({ kind: "ok", answer }) as const,
      (error: unknown) => ({ kind: "error", error: goRpcError(error, socketPath, behaviour) }) as const,
    );
    if (!signal.aborted) {
      const durationMs = Math.round(monotonicMs() - startedAt);
      // The answers of dial and of NotifyRegistrationStatus are empty.
      const isEmpty = called.kind === "ok" && Object.keys(Object(called.answer)).length === 0;
      const result = isEmpty ? { kind: "ok" } : called;
      emit({ kind: "called", call, socketPath, durationMs, result } as Parameters<Emit>[0]);
    }
    return called;
  };
  return { ...surroundings, call };
}

/** A failed call in the words of grpc-go, by default a new one: registrars get these texts as the reason of a refusal, and people search for them. */
export function goRpcError(
  error: unknown,
  socketPath: string,
  wording: KubeletBehaviour = behaviourOf(NEWEST_SIMULATED),
): string {
  const { code, details } = error as Partial<ServiceError>;
  if (typeof code !== "number" || details === undefined) return messageOf(error);
  return `rpc error: code = ${grpcCodeName(code)} desc = ${goDescription(details, socketPath, wording)}`;
}

/** A failure to connect a driver's socket, as the description of a call's failure. */
export const goDialFailure = (why: string, { dialFailureWording }: KubeletBehaviour) =>
  `connection error: desc = "transport: ${dialFailureWording} ${why}"`;

/** A server that is connected and does not speak HTTP/2. */
function goHandshakeFailure(why: string, { handshakeFailureWording: wording }: KubeletBehaviour): string {
  return wording === "connection closed" ? wording : `connection error: desc = "${wording}: ${why}"`;
}

/** grpc-js' own errors, which the server did not send, in grpc-go's words. */
function goDescription(details: string, socketPath: string, wording: KubeletBehaviour): string {
  if (details.startsWith("Deadline exceeded")) return "context deadline exceeded";
  if (details.startsWith("No connection established")) {
    const errno = /connect (?<errno>E[A-Z0-9]+)/.exec(details)?.groups?.errno;
    if (errno === undefined) {
      // Bytes of another protocol read as a frame of a large length.
      return goHandshakeFailure(
        details.includes("Protocol error") ? "http2: frame too large" : "EOF",
        wording,
      );
    }
    // Of the errors that connect(2) usually gives, libuv has the same texts as Go.
    const [, text = errno] = [...getSystemErrorMap().values()].find(([name]) => name === errno) ?? [];
    return goDialFailure(`dial unix ${socketPath}: connect: ${text}`, wording);
  }
  if (details.startsWith("Response message parsing error"))
    return details.endsWith(NOT_UTF8)
      ? `grpc: failed to unmarshal the received message: ${NOT_UTF8}`
      : wording.unreadableInfoWording;
  if (details.startsWith("Connection dropped")) return wording.lostConnectionWording;
  if (details.includes("RST_STREAM")) {
    const h2Code = Number(/code (?<code>\d+)/.exec(details)?.groups?.code);
    return `stream terminated by RST_STREAM with error code: ${HTTP2_ERRORS[h2Code] ?? h2Code}`;
  }
  return details;
}
