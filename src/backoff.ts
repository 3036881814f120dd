/** How a wait grows from one failed attempt to the next. */
export interface Backoff {
  /** The first wait, in milliseconds. */
  readonly initialMs: number;
  /** No wait is longer, in milliseconds. */
  readonly maxMs: number;
  /** Share of a wait that is left to chance, 0 (none) to 1: keeps many nodes from knocking in step. Default 0. */
  readonly jitter?: number;
}

/** The wait before attempt number `attempt` (the first retry is 0): doubles each time up to the cap. */
export function backoffMs(backoff: Backoff, attempt: number, random: () => number = Math.random): number {
  const full = Math.min(backoff.initialMs * 2 ** Math.min(attempt, 30), backoff.maxMs);
  return full * (1 - (backoff.jitter ?? 0) * random());
}
