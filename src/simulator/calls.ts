import { setTimeout as delay } from "node:timers/promises";
import type { NodeInfo, PluginInfo } from "../grpc/protos";
import { goRpcError } from "./go-text";
import type { Called, Caller, KubeletContext } from "./kubelet-context";
import type { CallResult } from "./kubelet-events";

/** Makes the caller of one running kubelet: the only place that times calls, and delays them on request. */
export function createCaller({
  emit,
  faults,
  signal,
}: Pick<KubeletContext, "emit" | "faults" | "signal">): Caller {
  return async (call, socketPath, run) => {
    const slow = faults.take("slow", ({ before }) => before === call);
    if (slow) {
      emit({ kind: "fault-applied", fault: slow, socketPath });
      await delay(slow.delayMs, undefined, { signal }).catch(() => {});
    }
    if (signal.aborted) return { kind: "error", error: "context canceled" };
    emit({ kind: "calling", call, socketPath });
    const startedAt = performance.now();
    const called = await run().then(
      (answer) => ({ kind: "ok", answer }) as const,
      (error: unknown) => ({ kind: "error", error: goRpcError(error, socketPath) }) as const,
    );
    if (!signal.aborted) {
      const durationMs = performance.now() - startedAt;
      emit({ kind: "called", call, socketPath, durationMs, result: resultOf(called) });
    }
    return called;
  };
}

/** Reports only answers with content: those of dial and of NotifyRegistrationStatus are empty. */
function resultOf(called: Called<unknown>): CallResult {
  if (called.kind === "error") return called;
  const isEmpty = Object.keys(Object(called.answer)).length === 0;
  return isEmpty ? { kind: "ok" } : { kind: "ok", answer: called.answer as PluginInfo | NodeInfo };
}
