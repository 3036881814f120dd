import { RegistrarError } from "../errors";
import type { Logger } from "../logging/logger";

/** What a start is given besides its options. */
export interface StartContext {
  /** Aborted later, it closes what was started; aborted already, nothing starts. */
  readonly signal?: AbortSignal | undefined;
  /** Is told what happens. Without one nothing is logged. */
  readonly logger?: Logger | undefined;
}

/** Throws ABORTED, with the signal's reason as cause, where nothing is to be started any more. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new RegistrarError("ABORTED", "stopped before it started", { cause: signal.reason });
}
