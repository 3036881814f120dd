import type { KubeletBehaviour } from "../../kubelet-rules/versions";
import type { FaultScript } from "../faults";
import type { createCaller } from "./calls";
import type { DeregistrationCause, Emit, IntroducedPlugin } from "./events";
import type { NodeInfoManager } from "./node-info-manager";
import type { KubeletFault, KubeletTimings } from "./options";

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
