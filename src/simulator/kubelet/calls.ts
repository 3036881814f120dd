import { resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import { type Client, connectivityState, type ServiceError } from "@grpc/grpc-js";
import { messageOf, RegistrarError } from "../../base/errors";
import { monotonicMs, pause, startTimer, stopTimer } from "../../base/pause";
import { createUnixClient } from "../../grpc/client/unary";
import { HTTP2_ERRORS } from "../../grpc/guard/frames";
import type { NodeInfo, PluginInfo } from "../../grpc/protos";
import { grpcCodeName } from "../../grpc/status";
import type { KubeletBehaviour } from "../../kubelet-rules/versions";
import type { FaultScript } from "../simulator-options";
import type { CallResult, Emit, KubeletCall } from "./events";
import type { NodeInfoManager } from "./objects";
import type { KubeletFault, KubeletTimings } from "./options";

/**
 * A client that sends the `:authority` that a kubelet of some version would send. It still differs from grpc-go in the user
 * agent (`grpc-node-js/...`) and in two headers about compression. A relative path is relative to `/`, where kubelet runs.
 */
export function createKubeletClient(socketPath: string, authority: string): Client {
  return createUnixClient(resolve("/", socketPath), { "grpc.default_authority": authority });
}

/**
 * Resolves when the server's first HTTP/2 frame arrives, as grpc-go's blocking dial does; until then it dials a socket
 * without a listener again and again. Rejects with ABORTED after `timeoutMs` or when aborted.
 */
export function connected(client: Client, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const channel = client.getChannel();
    let isOver = false;
    const end = (failure?: string) => {
      isOver = true;
      stopTimer(limit);
      signal.removeEventListener("abort", cancel);
      if (failure === undefined) resolve();
      else reject(new RegistrarError("ABORTED", failure));
    };
    const cancel = () => end("context canceled");
    const limit = startTimer(end, timeoutMs, "context deadline exceeded");
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    // Not `waitForReady`: it looks once more after the channel was closed, which makes grpc-js (1.14) dial again.
    const look = () => {
      if (isOver) return;
      const state = channel.getConnectivityState(true);
      if (state !== connectivityState.READY)
        return channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
      end();
    };
    look();
  });
}

export type Called<Answer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: string };

export interface KubeletContext {
  readonly behaviour: KubeletBehaviour;
  readonly timings: KubeletTimings;
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
  const { emit, faults, signal } = surroundings;
  const call: KubeletContext["call"] = async (call, socketPath, run) => {
    const slow = faults.take("slow", ({ before }) => before === call, socketPath);
    if (slow) await pause(slow.delayMs, signal);
    if (signal.aborted) return { kind: "error", error: "context canceled" };
    emit({ kind: "calling", call, socketPath });
    const startedAt = monotonicMs();
    const called = await run().then(
      (answer) => ({ kind: "ok", answer }) as const,
      (error: unknown) => ({ kind: "error", error: goRpcError(error, socketPath) }) as const,
    );
    if (!signal.aborted) {
      const durationMs = monotonicMs() - startedAt;
      emit({ kind: "called", call, socketPath, durationMs, result: resultOf(called) });
    }
    return called;
  };
  return { ...surroundings, call };
}

/** Reports only answers with content: those of dial and of NotifyRegistrationStatus are empty. */
function resultOf(called: Called<unknown>): CallResult {
  if (called.kind === "error") return called;
  const isEmpty = Object.keys(Object(called.answer)).length === 0;
  return isEmpty ? { kind: "ok" } : { kind: "ok", answer: called.answer as PluginInfo | NodeInfo };
}

/** A failed call in the words of grpc-go: registrars get these texts as the reason of a refusal, and people search for them. */
export function goRpcError(error: unknown, socketPath: string): string {
  const { code, details } = error as Partial<ServiceError>;
  if (typeof code !== "number" || details === undefined) return messageOf(error);
  return `rpc error: code = ${grpcCodeName(code)} desc = ${goDescription(details, socketPath)}`;
}

/** grpc-js' own errors, which the server did not send, in grpc-go's words. */
function goDescription(details: string, socketPath: string): string {
  if (details.startsWith("Deadline exceeded")) return "context deadline exceeded";
  if (details.startsWith("No connection established")) {
    const errno = /connect (?<errno>E[A-Z0-9]+)/.exec(details)?.groups?.errno;
    // Of the errors that connect(2) usually gives, libuv has the same texts as Go.
    const [, text = errno] = [...getSystemErrorMap().values()].find(([name]) => name === errno) ?? [];
    const why =
      errno === undefined ? "error reading server preface: EOF" : `dial unix ${socketPath}: connect: ${text}`;
    return `connection error: desc = "transport: Error while dialing: ${why}"`;
  }
  if (details.startsWith("Connection dropped")) return "error reading from server: EOF";
  if (details.includes("RST_STREAM")) {
    const h2Code = Number(/code (?<code>\d+)/.exec(details)?.groups?.code);
    return `stream terminated by RST_STREAM with error code: ${HTTP2_ERRORS[h2Code] ?? h2Code}`;
  }
  return details;
}
