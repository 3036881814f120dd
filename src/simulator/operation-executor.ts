import {
  type BackoffLimits,
  backoffAfterFailure,
  type PathBackoff,
  remainingMs,
} from "./exponential-backoff";

/** How an operation ended. */
export type OperationOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: string };

/** Whether an operation has just been started. */
export type Started =
  | { readonly kind: "started" }
  | { readonly kind: "busy" }
  /** The same object throughout one wait. */
  | { readonly kind: "backing-off"; readonly backoff: PathBackoff; readonly remainingMs: number };

/**
 * Makes what runs at most one operation per socket path, and none while the path is backing off; it calls `onFailure`
 * with each failed operation and the wait that follows. Source: `pkg/util/goroutinemap/goroutinemap.go`, as
 * `pkg/kubelet/pluginmanager/operationexecutor` uses it.
 */
export function createOperationExecutor(
  limits: BackoffLimits,
  onFailure: (socketPath: string, error: string, backoff: PathBackoff) => void,
) {
  const running = new Map<string, Promise<void>>();
  const backoffs = new Map<string, PathBackoff>();

  const finish = (socketPath: string, outcome: OperationOutcome) => {
    running.delete(socketPath);
    if (outcome.kind === "done") {
      backoffs.delete(socketPath);
      return;
    }
    const backoff = backoffAfterFailure(backoffs.get(socketPath), performance.now(), limits);
    backoffs.set(socketPath, backoff);
    onFailure(socketPath, outcome.error, backoff);
  };

  return {
    start: (socketPath: string, run: () => Promise<OperationOutcome>): Started => {
      if (running.has(socketPath)) return { kind: "busy" };
      const backoff = backoffs.get(socketPath);
      const waitMs = remainingMs(backoff, performance.now());
      if (backoff !== undefined && waitMs > 0) {
        return { kind: "backing-off", backoff, remainingMs: waitMs };
      }
      running.set(
        socketPath,
        run().then((outcome) => finish(socketPath, outcome)),
      );
      return { kind: "started" };
    },
    /** Resolves when nothing runs. */
    idle: async (): Promise<void> => {
      await Promise.all(running.values());
    },
  };
}
