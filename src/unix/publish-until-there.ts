import { BACKOFF, backoffMs } from "../base/backoff";
import type { Logger } from "../logging/logger";
import { watchPath } from "./path-watch";
import type { PublishEnd } from "./publish-steps";

interface UntilThereOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Gets each failure; what it throws ends the attempts. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Publishes a socket at `path` until that succeeds or another has the place: after a failure again by backoff, and when
 * something happens there. Undefined once `signal` is aborted.
 */
export async function publishUntilThere(
  path: string,
  publish: () => Promise<PublishEnd>,
  { log, signal, onFailure }: UntilThereOptions,
): Promise<PublishEnd | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    using watch = await watchPath(path, log);
    try {
      return await publish();
    } catch (error) {
      if (signal.aborted) return undefined;
      onFailure(error);
      await watch.wait(signal, backoffMs(BACKOFF.publish, attempt));
    }
  }
  return undefined;
}
