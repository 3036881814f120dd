import type { KubeletBehaviour } from "../kubelet-rules/versions";
import type { FaultScript } from "./faults";
import type { Emit, KubeletCall } from "./kubelet-events";
import type { KubeletFault } from "./kubelet-faults";
import type { KubeletTimings } from "./kubelet-options";
import type { NodeInfoManager } from "./node-info-manager";

/** What the parts of one kubelet process work with. */
export interface KubeletContext {
  readonly behaviour: KubeletBehaviour;
  readonly timings: KubeletTimings;
  readonly nodeInfo: NodeInfoManager;
  readonly faults: FaultScript<KubeletFault>;
  readonly emit: Emit;
  readonly call: Caller;
  /** Once aborted, calls end and nothing more is reported: this kubelet is gone. */
  readonly signal: AbortSignal;
}

/** Makes one call, reports its start and end, and never throws. */
export type Caller = <Answer>(
  call: KubeletCall,
  socketPath: string,
  run: () => Promise<Answer>,
) => Promise<Called<Answer>>;

/** How one call ended. */
export type Called<Answer> =
  | { readonly kind: "ok"; readonly answer: Answer }
  | { readonly kind: "error"; readonly error: string };
