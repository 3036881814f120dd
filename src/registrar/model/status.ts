import type { PluginIdentity } from "../../grpc/protos";
import type { RegistrationOutcome } from "./outcome";
import type { StateChange, StateName } from "./state";
import type { Tally } from "./tally";

/** Why there is nothing of a driver that could be registered. */
export interface DriverTrouble {
  /**
   * `no-answer`: it listens, and takes no connections or fails GetPluginInfo. `name-withheld`: another driver of the
   * node has its name. `not-wanted`: its name is not to be registered, by the lists of names: all is as configured.
   * `failed`: it cannot be registered, as with a name that is not safe.
   */
  readonly kind: "no-answer" | "name-withheld" | "not-wanted" | "failed";
  readonly text: string;
}

/** Where one driver's registration stands, at the moment of asking. */
export interface DriverStatus {
  /** What the driver last answered; undefined before it answered. */
  readonly identity: PluginIdentity | undefined;
  /** Whether there is a connection to the driver; always, where the driver runs in this process. */
  readonly connected: boolean;
  /** What keeps the driver from being registered before kubelet has a say; undefined where nothing is known to. */
  readonly trouble: DriverTrouble | undefined;
  /** What the driver does against the CSI specification; it is registered all the same. */
  readonly misbehaviour?: string | undefined;
  readonly state: StateName;
  /** The latest changes of state, oldest first, at most HISTORY_LENGTH. */
  readonly history: readonly StateChange[];
  /** Where the registration socket belongs, ours or a peer's; undefined before it was first published. */
  readonly registrationSocketPath: string | undefined;
  readonly tally: Tally;
  /** How it ended; undefined as long as it has not. */
  readonly outcome: RegistrationOutcome | undefined;
}

/** Why a driver's registration stands where it does, in a few words; undefined where the state says it all. */
export function reasonOf({ state, history, tally, trouble, registrationSocketPath }: DriverStatus) {
  const last = history.at(-1)?.event;
  const refusal = tally.refusal === undefined ? undefined : `kubelet refused: ${tally.refusal}`;
  switch (state) {
    case "waiting":
      return trouble?.text ?? "the CSI driver has not told its name";
    case "listening":
      return refusal === undefined
        ? "kubelet has not called"
        : `kubelet has not called again; before, ${refusal}`;
    case "asked":
      return "kubelet called GetInfo and has not told the outcome";
    case "refused":
    case "publishing":
      return refusal;
    case "standby":
      return last?.kind === "already-registered"
        ? `another registrar of the driver holds the registration; kubelet says: ${last.error}`
        : `another registrar of the driver holds ${registrationSocketPath ?? "its socket"}`;
    case "registered":
      return undefined;
    case "stopping":
    case "stopped":
      return trouble?.text;
    default:
      return state satisfies never;
  }
}
