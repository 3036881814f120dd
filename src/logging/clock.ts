/** How far the two clocks may be apart, in milliseconds, before the wall clock is believed: it was set. */
const TOLERANCE_MS = 2;

/**
 * Makes a wall clock that knows microseconds: milliseconds since the epoch, with a fraction. `Date.now` has none, so
 * that all lines of one millisecond would bear the same time. It follows the system's clock where that is set.
 */
export function createPreciseClock(
  wall: () => number = Date.now,
  monotonic: () => number = () => performance.now(),
): () => number {
  let offset = Number.NaN;
  return () => {
    const [wallMs, monotonicMs] = [wall(), monotonic()];
    const precise = offset + monotonicMs;
    if (Math.abs(precise - wallMs) <= TOLERANCE_MS) return precise;
    offset = wallMs - monotonicMs;
    return wallMs;
  };
}
