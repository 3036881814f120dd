import { createOperationExecutor, type PathBackoff } from "./operation-executor";
import { type ActualPlugin, type OperationContext, register, unregister } from "./operations";
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
  /** What was last reported about each path's wait. */
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
  ) => {
    const isIgnored = operation === "register" && faults.take("never-call") !== undefined;
    const wait = isIgnored
      ? "never-call"
      : executor.start(socketPath, () => {
          emit({ kind: "operation-started", operation, socketPath });
          return run();
        });
    if (wait === undefined || reported.get(socketPath) === wait) return;
    reported.set(socketPath, wait);
    const because =
      wait === "never-call"
        ? ({ kind: wait } as const)
        : ({ kind: "backoff", remainingMs: Math.max(0, wait.untilMs - performance.now()) } as const);
    emit({ kind: "waiting", socketPath, because });
  };

  /** A replaced socket is unregistered first, and registered in the next round: a path has one operation at a time. */
  const tick = () => {
    for (const plugin of actual.values()) {
      const now = desired.get(plugin.socketPath);
      const because = now ? "socket-replaced" : "socket-gone";
      if (now?.generation !== plugin.generation)
        start("unregister", plugin.socketPath, () => unregister(plugin, because, context));
    }
    for (const plugin of desired.values())
      if (isStillMissing(plugin.socketPath))
        start("register", plugin.socketPath, () => register(plugin, context));
    timer = setTimeout(tick, timings.reconcilePeriodMs);
  };
  let timer: NodeJS.Timeout | undefined;
  tick();

  return {
    /** Stops the loop and waits for running operations, which the signal given at the start must have ended. */
    close: async (): Promise<void> => {
      clearTimeout(timer);
      close();
      await executor.idle();
    },
  };
}
