import type { EventOf } from "../../base/event-source";
import type { KubeletEvent } from "./events";

/**
 * How far a kubelet came with any registration, in a few words: for the error of a wait that failed. The last failure
 * stays in it until that socket is registered, because a registrar that is refused removes its socket.
 */
export function tellLastStep(history: readonly KubeletEvent[], pluginRegistrationPath: string): string {
  let told = `it has seen no socket in ${pluginRegistrationPath}`;
  let beforeNotifying = told;
  let failure: EventOf<KubeletEvent, "failed"> | undefined;
  for (const event of history) {
    const isNotifying = "call" in event && event.call === "NotifyRegistrationStatus";
    // The registrar hears what kubelet did before: after the call that is the last step again.
    if (isNotifying && event.kind === "called") told = beforeNotifying;
    if (isNotifying && event.kind === "calling") beforeNotifying = told;
    told = tellStep(event) ?? told;
    if (event.kind === "failed") failure = event;
    if (event.kind === "registered" && event.socketPath === failure?.socketPath) failure = undefined;
  }
  return failure === undefined || told === failure.error ? told : `${told}; before that: ${failure.error}`;
}

function tellStep(event: KubeletEvent): string | undefined {
  switch (event.kind) {
    case "socket-seen":
      return `it has seen ${event.socketPath} and not called yet`;
    case "waiting":
      if (event.because.kind !== "never-call") return undefined;
      return `it has seen ${event.socketPath} and does not call: the fault never-call is active`;
    case "socket-gone":
      return `${event.socketPath} is gone`;
    case "calling":
      return `${event.call} on ${event.socketPath} has not ended yet`;
    case "registered":
      return `it has registered ${event.driverName}`;
    case "deregistered":
      return `it has deregistered ${event.driverName}: ${event.because}`;
    case "failed":
      return event.error; // A refusal's text is in it.
    default:
      return undefined;
  }
}
