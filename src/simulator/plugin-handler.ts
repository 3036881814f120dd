import type { DeregistrationCause, IntroducedPlugin } from "./kubelet-events";

export interface OfferedPlugin extends IntroducedPlugin {
  readonly versions: readonly string[];
}

/** Why kubelet refuses a plugin, in kubelet's words; undefined: kubelet accepts it. */
export type Refusal = string | undefined;

/** What kubelet does with plugins of one type: `PluginHandler` in `pkg/kubelet/pluginmanager/cache/types.go`. */
export interface PluginHandler {
  validate(plugin: OfferedPlugin): Refusal;
  register(plugin: OfferedPlugin): Promise<Refusal>;
  deregister(plugin: Pick<IntroducedPlugin, "driverName" | "endpoint">, because: DeregistrationCause): void;
}
