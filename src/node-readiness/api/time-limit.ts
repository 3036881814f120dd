/** A signal that is aborted with a parent's, or when time is up. */
export interface TimeLimit extends Disposable {
  readonly signal: AbortSignal;
  /** Starts the time anew. */
  refresh(): void;
}

/**
 * Bounds some work to `limitMs`. To be disposed of: it leaves nothing with the parent then, which lives as long as the
 * process. (`AbortSignal.any` with such a parent keeps every child, in some versions of Node.)
 */
export function startTimeLimit(parent: AbortSignal, limitMs: number, reason: string): TimeLimit {
  const controller = new AbortController();
  const abort = () => controller.abort(parent.reason);
  const timer = setTimeout(() => controller.abort(new Error(reason)), limitMs);
  if (parent.aborted) abort();
  parent.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    refresh: () => void timer.refresh(),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      parent.removeEventListener("abort", abort);
    },
  };
}
