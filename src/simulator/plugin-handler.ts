import type { DeregistrationCause } from "./kubelet-events";

/** A plugin as it introduced itself in GetInfo. */
export interface OfferedPlugin {
  readonly name: string;
  /** Where the plugin itself listens; the registration socket if it named none. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

/** What a handler says of a plugin. */
export type HandlerAnswer =
  | { readonly kind: "accepted" }
  /** In kubelet's words. */
  | { readonly kind: "refused"; readonly reason: string };

/** What kubelet does with plugins of one type: `PluginHandler` in `pkg/kubelet/pluginmanager/cache/types.go`. */
export interface PluginHandler {
  validate(plugin: OfferedPlugin): HandlerAnswer;
  register(plugin: OfferedPlugin): Promise<HandlerAnswer>;
  deregister(plugin: Pick<OfferedPlugin, "name" | "endpoint">, because: DeregistrationCause): void;
}

export type PluginHandlers = ReadonlyMap<string, PluginHandler>;

export const ACCEPTED: HandlerAnswer = { kind: "accepted" };
