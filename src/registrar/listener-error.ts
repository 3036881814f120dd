import type { Logger } from "../logging/logger";
import type { RegistrarEvent } from "./registration/events";

/** A listener is somebody else's: what it throws is in the log, and changes nothing else. */
export function logListenerError(log: Logger): (error: unknown, event: Pick<RegistrarEvent, "kind">) => void {
  return (error, { kind }) => log.error(error, "A listener to events failed", { event: kind });
}
