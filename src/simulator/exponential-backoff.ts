/** Bounds of the wait after failures, in milliseconds. */
export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** How long a path has to wait since its last failure. */
export interface PathBackoff {
  readonly failedAtMs: number;
  readonly waitMs: number;
}

/**
 * Kubelet's backoff: 500 ms, doubled by each failure up to 2 min 2 s, without jitter. The key is the socket path: a new
 * socket on the path inherits the wait. A success ends it, also that of an unregistration.
 * Source: `pkg/util/goroutinemap/exponentialbackoff/exponential_backoff.go`.
 */
export const KUBELET_BACKOFF: BackoffLimits = { initialMs: 500, maxMs: 122_000 };

/** The backoff after one more failure at `nowMs`. */
export function backoffAfterFailure(
  previous: PathBackoff | undefined,
  nowMs: number,
  limits: BackoffLimits = KUBELET_BACKOFF,
): PathBackoff {
  const waitMs = previous === undefined ? limits.initialMs : Math.min(previous.waitMs * 2, limits.maxMs);
  return { failedAtMs: nowMs, waitMs };
}

/** Milliseconds until another try is allowed; 0 when it is. */
export function remainingMs(backoff: PathBackoff | undefined, nowMs: number): number {
  return backoff === undefined ? 0 : Math.max(0, backoff.failedAtMs + backoff.waitMs - nowMs);
}
