import { goQuote, goQuotedList } from "../kubelet-rules/go-quote";
import { isExtendedResource } from "../kubelet-rules/resource-name";
import type { DeregistrationCause } from "./kubelet-events";
import { ACCEPTED, type HandlerAnswer, type OfferedPlugin, type PluginHandler } from "./plugin-handler";

type OnDeregister = (name: string, because: DeregistrationCause) => void;

const refused = (reason: string): HandlerAnswer => ({ kind: "refused", reason });

/** The gRPC services that kubelets since 1.34 call: `servicesSupportedByKubelet` in `pkg/kubelet/cm/dra/plugin`. */
const DRA_SERVICES: readonly string[] = ["v1.DRAPlugin", "v1beta1.DRAPlugin"];

/**
 * Kubelet's handler for DRA drivers, as far as a registration sees it: it calls no driver and prepares no claim.
 * Source: `pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go`.
 */
export function createDraHandler(onDeregister: OnDeregister): PluginHandler {
  /** By driver: where its plugins listen. */
  const endpoints = new Map<string, Set<string>>();
  const endpointsOf = (name: string) => {
    const known = endpoints.get(name) ?? new Set<string>();
    endpoints.set(name, known);
    return known;
  };
  return {
    validate: ({ name, endpoint, versions }) => {
      const problem = problemOfServices(versions);
      if (problem === undefined) return ACCEPTED;
      return refused(
        `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${problem}`,
      );
    },
    register: async ({ name, endpoint }) => {
      if (endpointsOf(name).has(endpoint))
        return refused(`endpoint ${endpoint} already registered for DRA driver plugin ${name}`);
      endpointsOf(name).add(endpoint);
      return ACCEPTED;
    },
    deregister: ({ name, endpoint }, because) => {
      if (endpointsOf(name).delete(endpoint)) onDeregister(name, because);
    },
  };
}

function problemOfServices(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return "empty list of supported gRPC services (aka supported versions)";
  if (versions.some((version) => DRA_SERVICES.includes(version))) return undefined;
  const theirs = goQuotedList(versions);
  return `none of services supported by the plugin (${theirs}) are supported by the kubelet (${goQuotedList(DRA_SERVICES)})`;
}

const DEVICE_PLUGIN_VERSION = "v1beta1";

/**
 * Kubelet's handler for device plugins, as far as a registration sees it: it calls no plugin and allocates no device.
 * Source: `pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go`.
 */
export function createDeviceHandler(onDeregister: OnDeregister): PluginHandler {
  return {
    validate: ({ name, versions }: OfferedPlugin) => {
      if (!versions.includes(DEVICE_PLUGIN_VERSION))
        return refused(
          `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(" ")}]`,
        );
      if (!isExtendedResource(name))
        return refused(`invalid name of device plugin socket: the ResourceName ${goQuote(name)} is invalid`);
      return ACCEPTED;
    },
    register: async () => ACCEPTED,
    deregister: ({ name }, because) => onDeregister(name, because),
  };
}
