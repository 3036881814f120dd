import type { KubeletTimings } from "./kubelet-options";

/** The wait of a path after its latest failure, in milliseconds. */
export interface PathBackoff {
  readonly waitMs: number;
  /** When it ends, by `performance.now()`. */
  readonly untilMs: number;
}

/**
 * Makes what runs at most one operation per socket path, and none while the path is backing off; it calls `onFailure`
 * with each failed operation and the wait that follows, which each failure doubles, without jitter. A new socket on the
 * path inherits the wait. A success ends it, also that of an unregistration.
 * Sources: `goroutinemap.go` and `exponentialbackoff/exponential_backoff.go` in `pkg/util/goroutinemap`, as
 * `pkg/kubelet/pluginmanager/operationexecutor` uses them.
 */
export function createOperationExecutor(
  limits: Pick<KubeletTimings, "backoffInitialMs" | "backoffMaxMs">,
  onFailure: (socketPath: string, error: string, waitMs: number) => void,
) {
  const running = new Map<string, Promise<void>>();
  const backoffs = new Map<string, PathBackoff>();

  const finish = (socketPath: string, error: string | undefined) => {
    running.delete(socketPath);
    const before = backoffs.get(socketPath);
    backoffs.delete(socketPath);
    if (error === undefined) return;
    const waitMs = before ? Math.min(before.waitMs * 2, limits.backoffMaxMs) : limits.backoffInitialMs;
    backoffs.set(socketPath, { waitMs, untilMs: performance.now() + waitMs });
    onFailure(socketPath, error, waitMs);
  };

  return {
    /**
     * Starts `run`, which resolves with its error or undefined, unless an operation of this path runs. While the path is
     * backing off it starts nothing and returns that wait, the same object each time.
     */
    start: (socketPath: string, run: () => Promise<string | undefined>): PathBackoff | undefined => {
      if (running.has(socketPath)) return undefined;
      const backoff = backoffs.get(socketPath);
      if (backoff && backoff.untilMs > performance.now()) return backoff;
      const ended = run().then((error) => finish(socketPath, error));
      running.set(socketPath, ended);
      return undefined;
    },
    idle: async (): Promise<void> => {
      await Promise.all(running.values());
    },
  };
}
