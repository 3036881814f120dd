import { setTimeout as delay } from "node:timers/promises";
import type { NodeInfo, PluginInfo } from "../grpc/protos";
import type { KubeletBehaviour } from "../kubelet-rules/versions";
import type { FaultScript } from "./faults";
import { goRpcError } from "./go-text";
import type { CallResult, DeregistrationCause, Emit, IntroducedPlugin, KubeletCall } from "./kubelet-events";
import type { KubeletFault, KubeletTimings } from "./kubelet-options";
import type { NodeInfoManager } from "./node-info-manager";

export interface KubeletContext {
  readonly behaviour: KubeletBehaviour;
  readonly timings: KubeletTimings;
  readonly nodeInfo: NodeInfoManager;
  readonly volumeLimitPeriodsMs: Readonly<Record<string, number>>;
  readonly faults: FaultScript<KubeletFault>;
  readonly emit: Emit;
  readonly call: ReturnType<typeof createCaller>;
  /** Once aborted, calls end and nothing more is reported: this kubelet is gone. */
  readonly signal: AbortSignal;
}

export interface OfferedPlugin extends IntroducedPlugin {
  readonly versions: readonly string[];
}

/** Why kubelet refuses a plugin, in kubelet's words; undefined: kubelet accepts it. */
export type Refusal = string | undefined;

/** What kubelet does with plugins of one type: `PluginHandler` in `pkg/kubelet/pluginmanager/cache/types.go`. */
export interface PluginHandler {
  validate(plugin: OfferedPlugin): Refusal;
  register(plugin: OfferedPlugin): Promise<Refusal>;
  deregister(plugin: Pick<IntroducedPlugin, "driverName" | "endpoint">, because: DeregistrationCause): void;
}

export type Called<Answer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: string };

/**
 * Makes what one running kubelet calls with: it times each call, delays it on request, reports its start and end, and never
 * throws.
 */
export function createCaller({ emit, faults, signal }: Omit<KubeletContext, "call">) {
  return async <Answer>(
    call: KubeletCall,
    socketPath: string,
    run: () => Promise<Answer>,
  ): Promise<Called<Answer>> => {
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
