import type { KubeletBehaviour } from "../kubelet-rules/versions";
import type { Caller } from "./calls";
import type { FaultScript } from "./faults";
import type { Emit } from "./kubelet-events";
import type { KubeletFault } from "./kubelet-faults";
import type { KubeletTimings } from "./kubelet-options";
import type { NodeInfoManager } from "./node-info-manager";

/** What outlives a kubelet process. */
export interface Surroundings {
  readonly behaviour: KubeletBehaviour;
  readonly timings: KubeletTimings;
  readonly nodeInfo: NodeInfoManager;
  readonly faults: FaultScript<KubeletFault>;
  readonly emit: Emit;
}

/** What the parts of one kubelet process work with. */
export interface KubeletContext extends Surroundings {
  readonly call: Caller;
  /** Ends every call when aborted: this kubelet is gone. */
  readonly signal: AbortSignal;
}
