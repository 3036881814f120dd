import type { DeregistrationCause } from "./kubelet-events";
import type { PluginType } from "./versions";

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

/**
 * A handler for kubelet's other plugin types. It checks the versions of such plugins and accepts them; it allocates no
 * device and prepares no resource claim.
 * Sources: `pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go`, `pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go`.
 */
export function createBystanderHandler(
  type: Exclude<PluginType, "CSIPlugin">,
  onDeregister: (name: string, because: DeregistrationCause) => void,
): PluginHandler {
  const problemOf = ({ versions }: OfferedPlugin): string | undefined => {
    if (type === "DevicePlugin" && !versions.includes("v1beta1")) {
      return `manager version, v1beta1, is not among plugin supported versions [${versions.join(" ")}]`;
    }
    if (type === "DRAPlugin" && versions.length === 0) {
      return "empty list of supported gRPC services (aka supported versions)";
    }
    return undefined;
  };
  return {
    validate: (plugin) => {
      const reason = problemOf(plugin);
      return reason === undefined ? ACCEPTED : { kind: "refused", reason };
    },
    register: async () => ACCEPTED,
    deregister: ({ name }, because) => onDeregister(name, because),
  };
}
