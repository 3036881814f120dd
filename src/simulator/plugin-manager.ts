import type { PathBackoff } from "./exponential-backoff";
import { createOperationExecutor } from "./operation-executor";
import { type OperationContext, register, unregister } from "./operations";
import { startPluginWatcher } from "./plugin-watcher";
import { type ActualPlugin, type PluginOperation, reconcile } from "./reconciler";

export interface PluginManagerOptions extends Omit<OperationContext, "actual"> {
  readonly pluginRegistrationPath: string;
}

/**
 * Starts the loop: compare the desired with the actual state, start what is missing, sleep, and again. The loop waits
 * for no operation; each path has its own. Source: `pkg/kubelet/pluginmanager/plugin_manager.go`.
 */
export function startPluginManager(options: PluginManagerOptions) {
  const { timings, faults, emit, signal } = options;
  const watcher = startPluginWatcher(options.pluginRegistrationPath, options.behaviour, emit);
  const actual = new Map<string, ActualPlugin>();
  const context: OperationContext = { ...options, actual };
  /** What was last reported about each path's wait. */
  const told = new Map<string, PathBackoff | "never-call">();

  /** Whether the next rounds try again by themselves: not if the plugin stayed in the actual state of world. */
  const isStillMissing = (socketPath: string) => {
    const wanted = watcher.desired().find((plugin) => plugin.socketPath === socketPath);
    return wanted !== undefined && actual.get(socketPath)?.generation !== wanted.generation;
  };

  const executor = createOperationExecutor(
    { initialMs: timings.backoffInitialMs, maxMs: timings.backoffMaxMs },
    (socketPath, error, { waitMs }) => {
      if (signal.aborted) return;
      emit({ kind: "failed", socketPath, error, backoffMs: waitMs, retries: isStillMissing(socketPath) });
    },
  );

  const tellOnce = (socketPath: string, what: PathBackoff | "never-call", tell: () => void) => {
    if (told.get(socketPath) === what) return;
    told.set(socketPath, what);
    tell();
  };

  const start = (operation: PluginOperation) => {
    const { socketPath } = operation.plugin;
    if (operation.kind === "register" && faults.take("never-call")) {
      const because = { kind: "never-call" } as const;
      tellOnce(socketPath, "never-call", () => emit({ kind: "waiting", socketPath, because }));
      return;
    }
    const started = executor.start(socketPath, async () => {
      emit({ kind: "operation-started", operation: operation.kind, socketPath });
      return operation.kind === "register"
        ? register(operation.plugin, context)
        : unregister(operation.plugin, operation.because, context);
    });
    if (started.kind === "backing-off") {
      const because = { kind: "backoff", remainingMs: started.remainingMs } as const;
      tellOnce(socketPath, started.backoff, () => emit({ kind: "waiting", socketPath, because }));
    }
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
