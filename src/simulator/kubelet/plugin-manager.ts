import { monotonicMs, startTimer, stopTimer } from "../../base/pause";
import { type ActualPlugin, type OperationContext, register, unregister } from "./operations";
import type { KubeletTimings } from "./options";
import { startPluginWatcher } from "./plugin-watcher";

/**
 * Starts the loop: compare the desired with the actual state, start what is missing, sleep, and again. The loop waits
 * for no operation; each path has its own.
 * Sources: `plugin_manager.go` and `reconciler/reconciler.go` in `pkg/kubelet/pluginmanager`.
 */
export function startPluginManager(
  pluginRegistrationPath: string,
  surroundings: Omit<OperationContext, "actual">,
) {
  const { behaviour, timings, faults, emit, signal } = surroundings;
  const { desired, close } = startPluginWatcher(pluginRegistrationPath, behaviour, emit);
  const actual = new Map<string, ActualPlugin>();
  const context: OperationContext = { ...surroundings, actual };
  const reported = new Map<string, PathBackoff | "never-call">();

  /** Whether the next rounds try again by themselves: not if the plugin stayed in the actual state of world. */
  const isStillMissing = (socketPath: string) => {
    const wanted = desired.get(socketPath);
    return wanted !== undefined && actual.get(socketPath)?.generation !== wanted.generation;
  };

  const executor = createOperationExecutor(timings, (socketPath, error, backoffMs) => {
    if (signal.aborted) return;
    emit({ kind: "failed", socketPath, error, backoffMs, retries: isStillMissing(socketPath) });
  });

  const start = (
    operation: "register" | "unregister",
    socketPath: string,
    run: () => Promise<string | undefined>,
    nowMs: number,
  ) => {
    const isIgnored = operation === "register" && faults.take("never-call") !== undefined;
    const wait = isIgnored
      ? "never-call"
      : executor.start(socketPath, nowMs, () => {
          emit({ kind: "operation-started", operation, socketPath });
          return run();
        });
    if (wait === undefined || reported.get(socketPath) === wait) return;
    reported.set(socketPath, wait);
    const because =
      wait === "never-call"
        ? ({ kind: wait } as const)
        : ({ kind: "backoff", remainingMs: wait.untilMs - nowMs } as const);
    emit({ kind: "waiting", socketPath, because });
  };

  /** A replaced socket is unregistered first, and registered in the next round: a path has one operation at a time. */
  const tick = () => {
    const nowMs = monotonicMs(); // One for all: a backoff must not end between the two operations of a path.
    for (const plugin of actual.values()) {
      const now = desired.get(plugin.socketPath);
      const because = now ? "socket-replaced" : "socket-gone";
      if (now?.generation !== plugin.generation)
        start("unregister", plugin.socketPath, () => unregister(plugin, because, context), nowMs);
    }
    for (const plugin of desired.values())
      if (isStillMissing(plugin.socketPath))
        start("register", plugin.socketPath, () => register(plugin, context), nowMs);
    timer = startTimer(tick, timings.reconcilePeriodMs);
  };
  let timer: NodeJS.Timeout | undefined;
  tick();

  return {
    /** Stops the loop and waits for running operations, which the signal given at the start must have ended. */
    close: async (): Promise<void> => {
      stopTimer(timer);
      close();
      await executor.idle();
    },
  };
}

/** The wait of a path after its latest failure, in milliseconds. */
export interface PathBackoff {
  readonly waitMs: number;
  /** When it ends, by `monotonicMs()`. */
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
    backoffs.set(socketPath, { waitMs, untilMs: monotonicMs() + waitMs });
    onFailure(socketPath, error, waitMs);
  };

  return {
    /**
     * Starts `run`, which resolves with its error or undefined, unless an operation of this path runs. While the path is
     * backing off it starts nothing and returns that wait, the same object each time.
     */
    start: (
      socketPath: string,
      nowMs: number,
      run: () => Promise<string | undefined>,
    ): PathBackoff | undefined => {
      if (running.has(socketPath)) return undefined;
      const backoff = backoffs.get(socketPath);
      if (backoff && backoff.untilMs > nowMs) return backoff;
      const ended = run().then((error) => finish(socketPath, error));
      running.set(socketPath, ended);
      return undefined;
    },
    idle: async (): Promise<void> => {
      await Promise.all(running.values());
    },
  };
}
