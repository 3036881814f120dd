import { isExtendedResource } from "../../kubelet-rules/resource-name";
import type { KubeletBehaviour } from "../../kubelet-rules/versions";
import { quoteGo, quoteGoList } from "../../logging/escape";
import type { KubeletContext, PluginHandler } from "./context";
import type { Emit } from "./events";

/** The gRPC services that kubelets since 1.34 call: `servicesSupportedByKubelet` in `pkg/kubelet/cm/dra/plugin`. */
const DRA_SERVICES: readonly string[] = ["v1.DRAPlugin", "v1beta1.DRAPlugin"];
/** Newest first: `healthServicesSupportedByKubelet` there, in 1.37. */
const DRA_HEALTH_SERVICES: readonly string[] = ["v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"];

/**
 * Kubelet's handler for DRA drivers, as far as a registration sees it: it calls no driver and prepares no claim.
 * Source: `pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go`.
 */
export function createDraHandler({
  emit,
  behaviour,
}: Pick<KubeletContext, "emit" | "behaviour">): PluginHandler {
  /** A driver may have several plugins, each with an endpoint of its own. */
  const registered = new Set<string>();
  const keyOf = (name: string, endpoint: string) => JSON.stringify([name, endpoint]);
  return {
    validate: ({ driverName: name, endpoint, versions }) => {
      const problem = problemOfServices(versions);
      if (problem === undefined) return undefined;
      return `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${problem}`;
    },
    register: async ({ driverName: name, endpoint, versions }) => {
      if (registered.has(keyOf(name, endpoint)))
        return `endpoint ${endpoint} already registered for DRA driver plugin ${name}`;
      registered.add(keyOf(name, endpoint));
      const service = healthServiceOf(behaviour, versions);
      if (service !== undefined) emit({ kind: "health-service-chosen", driverName: name, endpoint, service });
      return undefined;
    },
    deregister: ({ driverName, endpoint }, because) => {
      if (registered.delete(keyOf(driverName, endpoint))) emit({ kind: "deregistered", driverName, because });
    },
  };
}

/** The service by which kubelet watches the health of a driver's devices. */
function healthServiceOf(
  { watchesDraHealth }: KubeletBehaviour,
  versions: readonly string[],
): string | undefined {
  switch (watchesDraHealth) {
    case "of-none":
      return undefined;
    case "of-each":
      return "v1alpha1.DRAResourceHealth";
    case "as-listed":
      return DRA_HEALTH_SERVICES.find((service) => versions.includes(service));
  }
}

function problemOfServices(versions: readonly string[]): string | undefined {
  if (versions.length === 0) return "empty list of supported gRPC services (aka supported versions)";
  if (versions.some((version) => DRA_SERVICES.includes(version))) return undefined;
  const theirs = quoteGoList(versions);
  return `none of services supported by the plugin (${theirs}) are supported by the kubelet (${quoteGoList(DRA_SERVICES)})`;
}

const DEVICE_PLUGIN_VERSION = "v1beta1";

/**
 * Kubelet's handler for device plugins, as far as a registration sees it: it calls no plugin and allocates no device.
 * Source: `pkg/kubelet/cm/devicemanager/plugin/v1beta1/handler.go`.
 */
export function createDeviceHandler(emit: Emit): PluginHandler {
  return {
    validate: ({ driverName: name, versions }) => {
      if (!versions.includes(DEVICE_PLUGIN_VERSION))
        return `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(" ")}]`;
      if (!isExtendedResource(name))
        return `invalid name of device plugin socket: the ResourceName ${quoteGo(name)} is invalid`;
      return undefined;
    },
    register: async () => undefined,
    deregister: ({ driverName }, because) => emit({ kind: "deregistered", driverName, because }),
  };
}
