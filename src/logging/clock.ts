/** When both clocks are further apart than this, in milliseconds, the wall clock was set. */
const TOLERANCE_MS = 2;

/**
 * Makes a wall clock: milliseconds since the epoch with a fraction, which `Date.now` lacks. It follows when the system's clock
 * is set.
 */
export function createPreciseClock(): () => number {
  let offset = Number.NaN;
  return () => {
    const [wallMs, monotonicMs] = [Date.now(), performance.now()];
    const precise = offset + monotonicMs;
    if (Math.abs(precise - wallMs) <= TOLERANCE_MS) return precise;
    offset = wallMs - monotonicMs;
    return wallMs;
  };
}
