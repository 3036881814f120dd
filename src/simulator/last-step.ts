import type { KubeletEvent } from "./kubelet-events";

/** How far a kubelet came with any registration, in a few words: for the error of a wait that was given up. */
export function tellLastStep(history: readonly KubeletEvent[], pluginRegistrationPath: string): string {
  let told = `it has seen no socket in ${pluginRegistrationPath}`;
  let beforeNotice = told;
  for (const event of history) {
    if (isOfNotice(event, "calling")) beforeNotice = told;
    // It tells what has happened before: that is still the last step when it has been sent.
    told = isOfNotice(event, "called") ? beforeNotice : (tellStep(event) ?? told);
  }
  return told;
}

const isOfNotice = (event: KubeletEvent, kind: "calling" | "called") =>
  event.kind === kind && event.call === "NotifyRegistrationStatus";

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
