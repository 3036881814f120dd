import type { DeregistrationCause } from "./kubelet-events";

/** A plugin as it introduced itself in GetInfo. */
export interface OfferedPlugin {
  readonly name: string;
  /** Where the plugin itself listens; the registration socket if it named none. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

/** Why kubelet refuses a plugin, in kubelet's words; undefined: kubelet accepts it. */
export type Refusal = string | undefined;

/** What kubelet does with plugins of one type: `PluginHandler` in `pkg/kubelet/pluginmanager/cache/types.go`. */
export interface PluginHandler {
  validate(plugin: OfferedPlugin): Refusal;
  register(plugin: OfferedPlugin): Promise<Refusal>;
  deregister(plugin: Pick<OfferedPlugin, "name" | "endpoint">, because: DeregistrationCause): void;
}
