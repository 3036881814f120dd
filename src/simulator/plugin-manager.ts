import { createOperationExecutor, type PathBackoff } from "./operation-executor";
import { type OperationContext, register, unregister } from "./operations";
import { startPluginWatcher } from "./plugin-watcher";
import { type ActualPlugin, type PluginOperation, reconcile } from "./reconciler";

/**
 * Starts the loop: compare the desired with the actual state, start what is missing, sleep, and again. The loop waits
 * for no operation; each path has its own. Source: `pkg/kubelet/pluginmanager/plugin_manager.go`.
 */
export function startPluginManager(
  pluginRegistrationPath: string,
  surroundings: Omit<OperationContext, "actual">,
) {
  const { behaviour, timings, faults, emit, signal } = surroundings;
  const watcher = startPluginWatcher(pluginRegistrationPath, behaviour, emit);
  const actual = new Map<string, ActualPlugin>();
  const context: OperationContext = { ...surroundings, actual };
  /** What was last reported about each path's wait. */
  const reported = new Map<string, PathBackoff | "never-call">();

  /** Whether the next rounds try again by themselves: not if the plugin stayed in the actual state of world. */
  const isStillMissing = (socketPath: string) => {
    const wanted = watcher.desired().find((plugin) => plugin.socketPath === socketPath);
    return wanted !== undefined && actual.get(socketPath)?.generation !== wanted.generation;
  };

  const executor = createOperationExecutor(timings, (socketPath, error, backoffMs) => {
    if (signal.aborted) return;
    emit({ kind: "failed", socketPath, error, backoffMs, retries: isStillMissing(socketPath) });
  });

  const run = async (operation: PluginOperation) => {
    emit({ kind: "operation-started", operation: operation.kind, socketPath: operation.plugin.socketPath });
    if (operation.kind === "register") return register(operation.plugin, context);
    unregister(operation.plugin, operation.because, context);
    return undefined;
  };

  const start = (operation: PluginOperation) => {
    const { socketPath } = operation.plugin;
    const isIgnored = operation.kind === "register" && faults.take("never-call") !== undefined;
    const wait = isIgnored ? "never-call" : executor.start(socketPath, () => run(operation));
    if (wait === undefined || reported.get(socketPath) === wait) return;
    reported.set(socketPath, wait);
    const because =
      wait === "never-call"
        ? ({ kind: wait } as const)
        : ({ kind: "backoff", remainingMs: Math.max(0, wait.untilMs - performance.now()) } as const);
    emit({ kind: "waiting", socketPath, because });
  };

  const tick = () => {
    for (const operation of reconcile(watcher.desired(), [...actual.values()])) start(operation);
    timer = setTimeout(tick, timings.reconcilePeriodMs);
  };
  let timer: NodeJS.Timeout | undefined;
  tick();

  return {
    /** Stops the loop and waits for running operations, which the signal given at the start must have ended. */
    close: async (): Promise<void> => {
      clearTimeout(timer);
      watcher.close();
      await executor.idle();
    },
  };
}
