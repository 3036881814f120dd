import type { KubeletEvent } from "./kubelet-events";

/** How far a kubelet came with any registration, in a few words: for the error of a wait that failed. */
export function tellLastStep(history: readonly KubeletEvent[], pluginRegistrationPath: string): string {
  let told = `it has seen no socket in ${pluginRegistrationPath}`;
  let beforeNotifying = told;
  for (const event of history) {
    const isNotifying = "call" in event && event.call === "NotifyRegistrationStatus";
    // The registrar hears what kubelet did before: after the call that is the last step again.
    if (isNotifying && event.kind === "called") told = beforeNotifying;
    if (isNotifying && event.kind === "calling") beforeNotifying = told;
    told = tellStep(event) ?? told;
  }
  return told;
}

function tellStep(event: KubeletEvent): string | undefined {
  switch (event.kind) {
    case "socket-seen":
      return `it has seen ${event.socketPath} and not called yet`;
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
