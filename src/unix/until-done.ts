import { BACKOFF, backoffMs } from "../base/backoff";
import { pause } from "../base/pause";
import type { Logger } from "../logging/logger";
import { watchPath } from "./path-watch";

interface UntilDoneOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Gets each failure; what it throws ends the attempts. */
  readonly onFailure: (error: unknown) => void;
  /** Tries again when something happens there, too. */
  readonly path?: string;
}

/** Publishes or removes a socket until that succeeds: after a failure again by backoff. Undefined once `signal` is aborted. */
export async function untilDone<Done>(
  deed: () => Promise<Done>,
  { log, signal, onFailure, path }: UntilDoneOptions,
): Promise<Done | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    using watch = path === undefined ? undefined : await watchPath(path, log);
    try {
      return await deed();
    } catch (error) {
      if (signal.aborted) return undefined;
      onFailure(error);
      const waitMs = backoffMs(BACKOFF.publish, attempt);
      await (watch ? watch.wait(signal, waitMs) : pause(waitMs, signal));
    }
  }
  return undefined;
}
