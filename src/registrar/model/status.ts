import type { GetPluginInfoResponse } from "../../grpc/protos";
import type { RegistrationCounters } from "./counters";
import type { RegistrationOutcome } from "./outcome";
import type { StateChange, StateName } from "./state";

/** Why the driver cannot be registered now. */
export interface DriverTrouble {
  /**
   * `no-answer`: it listens, and accepts no connections or fails GetPluginInfo. `name-withheld`: another driver of the
   * node has its name. `not-wanted`: the lists of names exclude it, as configured. `not-published`: its registration socket
   * cannot be put in place, which is tried again. `failed`: it cannot be registered, as with an unsafe name. Of a node-wide
   * registrar that waits before it asks the driver, `renamed`: it changed its name again; `no-descriptors`: too few are left.
   */
  readonly kind:
    | "no-answer"
    | "name-withheld"
    | "not-wanted"
    | "not-published"
    | "failed"
    | "renamed"
    | "no-descriptors";
  /** For people. */
  readonly text: string;
}

/** What is known of the driver itself. */
export interface DriverHealth {
  /** What the driver last answered; undefined before it answered. */
  readonly identity: GetPluginInfoResponse | undefined;
  /** Whether there is a connection to the driver; always, where the driver runs in this process. */
  readonly connected: boolean;
  /** What prevents the registration before kubelet decides; undefined if nothing is known to. */
  readonly trouble: DriverTrouble | undefined;
}

/** Where one driver's registration stands, at this moment. */
export interface DriverStatus extends DriverHealth {
  /** The state at this moment. */
  readonly state: StateName;
  /** The latest changes of state, oldest first, at most 50. */
  readonly history: readonly StateChange[];
  /** Where the registration socket belongs, ours or a peer's; undefined before it was first published. */
  readonly registrationSocketPath: string | undefined;
  /** What kubelet and the driver have done so far. */
  readonly counters: RegistrationCounters;
  /** How the registration ended; undefined before. */
  readonly outcome: RegistrationOutcome | undefined;
}

/** Why a driver's registration is in its state, in a few words; undefined where the state says it all. */
export function reasonOf({ state, history, counters, trouble, registrationSocketPath }: DriverStatus) {
  const refusal =
    counters.kubeletError === undefined ? undefined : `kubelet refused: ${counters.kubeletError}`;
  const peer =
    history.at(-1)?.reason === "already-registered"
      ? `the registration; kubelet says: ${counters.kubeletError}`
      : (registrationSocketPath ?? "its socket");
  const reasons: Readonly<Record<StateName, string | undefined>> = {
    waiting: trouble?.text ?? "the CSI driver has not reported its name yet",
    publishing: trouble?.text ?? refusal,
    listening: refusal
      ? `kubelet has not called since the last time, when ${refusal}`
      : "kubelet has not called",
    asked: "kubelet called GetInfo and has not reported a status",
    registered: undefined,
    refused: refusal,
    standby: `another registrar of the driver holds ${peer}`,
    stopping: trouble?.text,
    stopped: trouble?.text,
  };
  return reasons[state];
}
