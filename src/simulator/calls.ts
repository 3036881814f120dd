import { setTimeout as delay } from "node:timers/promises";
import type { NodeInfo, PluginInfo } from "../grpc/protos";
import type { FaultScript } from "./faults";
import { goRpcError } from "./go-text";
import type { Emit, KubeletCall } from "./kubelet-events";
import type { KubeletFault } from "./kubelet-faults";

/** How one call ended for the one who made it. */
export type Called<Answer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: string };

/** Makes one call, reports its start and end, and never throws. */
export type Caller = <Answer>(
  call: KubeletCall,
  socketPath: string,
  run: () => Promise<Answer>,
) => Promise<Called<Answer>>;

export interface CallerOptions {
  readonly emit: Emit;
  readonly faults: FaultScript<KubeletFault>;
  /** Once aborted, calls end and nothing more is reported: this kubelet is gone. */
  readonly signal: AbortSignal;
}

/** Makes the caller of one running kubelet: the only place that times calls, and delays them on request. */
export function createCaller({ emit, faults, signal }: CallerOptions): Caller {
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
      emit({ kind: "called", call, socketPath, durationMs, result: told(called) });
    }
    return called;
  };
}

/** Only answers with content are reported: those of dial and of NotifyRegistrationStatus are empty. */
function told(called: Called<unknown>) {
  if (called.kind === "error") return called;
  const { answer } = called;
  const says = typeof answer === "object" && answer !== null && Object.keys(answer).length > 0;
  return says
    ? ({ kind: "ok", answer: answer as PluginInfo | NodeInfo } as const)
    : ({ kind: "ok" } as const);
}
