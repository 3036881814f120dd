/** A socket that the plugin watcher sees. */
export interface DesiredPlugin {
  readonly socketPath: string;
  /** Grows whenever a socket is created on the path: kubelet has a UUID for it, older ones a timestamp. */
  readonly generation: number;
}

/** A plugin that kubelet has registered. */
export interface ActualPlugin extends DesiredPlugin {
  readonly pluginType: string;
  readonly name: string;
  readonly endpoint: string;
}

/** One thing to do next. */
export type PluginOperation =
  | {
      readonly kind: "unregister";
      readonly plugin: ActualPlugin;
      readonly because: "socket-gone" | "socket-replaced";
    }
  | { readonly kind: "register"; readonly plugin: DesiredPlugin };

/**
 * The steps from the actual state of world to the desired one. Unregister comes first, then register: a replaced socket
 * needs both, and because only one operation runs per path, the second waits for the next round.
 * Source: `reconcile` in `pkg/kubelet/pluginmanager/reconciler/reconciler.go`.
 */
export function reconcile(
  desired: readonly DesiredPlugin[],
  actual: readonly ActualPlugin[],
): readonly PluginOperation[] {
  const seen = new Map(desired.map((plugin) => [plugin.socketPath, plugin.generation]));
  const held = new Map(actual.map((plugin) => [plugin.socketPath, plugin.generation]));
  const outdated = actual.filter((plugin) => seen.get(plugin.socketPath) !== plugin.generation);
  const missing = desired.filter((plugin) => held.get(plugin.socketPath) !== plugin.generation);
  return [
    ...outdated.map((plugin) => ({
      kind: "unregister" as const,
      plugin,
      because: seen.has(plugin.socketPath) ? ("socket-replaced" as const) : ("socket-gone" as const),
    })),
    ...missing.map((plugin) => ({ kind: "register" as const, plugin })),
  ];
}
