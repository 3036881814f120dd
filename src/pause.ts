import { setTimeout as delay } from "node:timers/promises";

/** The longest wait of a Node timer, in milliseconds: 24 days. A longer one would fire at once. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1;

/** Waits, not at all for 0 or less. Answers whether the time is over; false where `signal` was aborted. Never rejects. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms <= 0) return !signal.aborted;
  return delay(Math.min(ms, LONGEST_WAIT_MS), true, { signal }).catch(() => false);
}

/** Waits for `hint`, for `ms` milliseconds, or for `signal`, whichever comes first; answers whether it was the hint. */
export async function hintOrPause(hint: Promise<void>, ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([hint.then(() => true), pause(ms, waiting.signal).then(() => false)]);
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
  }
}
