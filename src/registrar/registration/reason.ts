import { boundText } from "../../logging/escape";
import type { DriverStatus } from "./driver-status";

/** Why a driver's registration stands where it does, in a few words; undefined where the state says it all. */
export function reasonOf({ state, history, tally, trouble, registrationSocketPath }: DriverStatus) {
  const last = history.at(-1)?.event;
  const refusal = tally.refusal === undefined ? undefined : `kubelet refused: ${boundText(tally.refusal)}`;
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
        ? `another registrar of the driver holds the registration; kubelet says: ${boundText(last.error)}`
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
