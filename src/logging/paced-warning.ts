import type { LogFields, Logger } from "./logger";

const INTERVAL_MS = 60_000;

/**
 * Makes a warning that clients can cause, but not turn into a flood: the first one is written at once, then at most one a
 * minute, which says in `sinceLast` how many it stands for. It needs no timer.
 */
export function createPacedWarning(log: Logger, message: string): (fields: LogFields) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (fields) => {
    unsaid += 1;
    const now = performance.now();
    if (now < quietUntil) return;
    log.warn(message, unsaid > 1 ? { ...fields, sinceLast: unsaid } : fields);
    quietUntil = now + INTERVAL_MS;
    unsaid = 0;
  };
}
