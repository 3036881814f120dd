import type { LogFields, Logger } from "./logger";

/**
 * Makes a warning that strangers can cause, but not turn into a flood: the first one is written at once, then at most
 * one in each interval, which says in `sinceLast` how many it stands for. It needs no timer.
 */
export function createPacedWarning(
  log: Logger,
  message: string,
  intervalMs = 60_000,
): (fields: LogFields) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (fields) => {
    unsaid += 1;
    const now = performance.now();
    if (now < quietUntil) return;
    log.warn(message, unsaid > 1 ? { ...fields, sinceLast: unsaid } : fields);
    quietUntil = now + intervalMs;
    unsaid = 0;
  };
}
