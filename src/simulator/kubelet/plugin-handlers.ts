import { finished } from "node:stream/promises";
import type { Client } from "@grpc/grpc-js";
import { callUnary } from "../../grpc/client/unary";
import { type NodeGetInfoResponse, protos, type Unary } from "../../grpc/protos";
import { isExtendedResource } from "../../kubelet-rules/api-validation";
import { type Version, validateVersions } from "../../kubelet-rules/driver-versions";
import { authorityFor, type PluginType } from "../../kubelet-rules/versions";
import { quoteGo, quoteGoList } from "../../logging/escape";
import { MAX_SOCKET_PATH_BYTES } from "../../unix/socket-path";
import {
  type Called,
  connected,
  createKubeletClient,
  DIALS_ONCE,
  goDialFailure,
  type KubeletContext,
  unlessSilent,
} from "./calls";
import type { DeregistrationCause, IntroducedPlugin } from "./events";

/** A plugin, and what it speaks. */
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

export function createPluginHandlers(context: KubeletContext): ReadonlyMap<string, PluginHandler> {
  const handlerOf: Readonly<Record<PluginType, PluginHandler>> = {
    CSIPlugin: createCsiRegistrationHandler(context),
    DRAPlugin: createDraHandler(context),
    DevicePlugin: createDeviceHandler(context),
  };
  return new Map(context.behaviour.pluginTypes.map((type) => [type, handlerOf[type]]));
}

/**
 * Kubelet's handler for CSI drivers, with the list of drivers it keeps in memory.
 * Source: `RegistrationHandler` in `pkg/volume/csi/csi_plugin.go`.
 */
function createCsiRegistrationHandler(context: KubeletContext): PluginHandler {
  const { behaviour, timings, nodeInfo, call, emit, signal } = context;
  const { versionsWording } = behaviour;
  /** `isInstalled`: the Node and CSINode have it. */
  const listed = new Map<string, { readonly version: Version; readonly isInstalled: boolean }>();

  /** Takes a driver off the list and off the node; the name alone decides, not the socket it came from. */
  const remove = (name: string, because: DeregistrationCause) => {
    const driver = listed.get(name);
    listed.delete(name);
    nodeInfo.uninstall(name);
    if (driver?.isInstalled) emit({ kind: "deregistered", driverName: name, because });
  };

  const nodeGetInfo = async (endpoint: string): Promise<Called<NodeGetInfoResponse>> => {
    if (Buffer.byteLength(endpoint) > MAX_SOCKET_PATH_BYTES) {
      const why = goDialFailure(`dial unix ${endpoint}: connect: invalid argument`, behaviour);
      return { kind: "error", error: `rpc error: code = Unavailable desc = ${why}` };
    }
    const authority = authorityFor(behaviour.driverAuthority, endpoint);
    const client = createKubeletClient(endpoint, authority, DIALS_ONCE);
    const bounds = { timeoutMs: timings.nodeGetInfoMs, signal };
    const ask = () => callUnary(client, protos.node.NodeGetInfo, {}, bounds);
    const called = await call("NodeGetInfo", endpoint, () =>
      unlessSilent(client, timings.connectMs, endpoint, behaviour, ask),
    );
    client.close();
    return called;
  };

  return {
    validate: ({ driverName: name, endpoint, versions }) => {
      const known = listed.get(name)?.version;
      const version = validateVersions("ValidatePlugin", name, versions, known, versionsWording);
      if (typeof version !== "string") return undefined;
      return `validation failed for CSI Driver ${name} at endpoint ${endpoint}: ${version}`;
    },
    register: async ({ driverName: name, endpoint, versions }) => {
      const before = listed.get(name);
      const version = validateVersions("RegisterPlugin", name, versions, before?.version, versionsWording);
      if (typeof version === "string") return version;
      listed.set(name, { version, isInstalled: before?.isInstalled ?? false });
      // As in kubelet, this check comes too late: the nameless driver stays on the list and blocks its next attempt.
      if (name === "") return "driver name is empty";
      const asked = await nodeGetInfo(endpoint);
      const refusal = asked.kind === "ok" ? nodeInfo.install({ name, ...asked.answer }) : asked.error;
      if (refusal === undefined) listed.set(name, { version, isInstalled: true });
      // A kubelet that is gone no longer changes objects.
      else if (!signal.aborted) remove(name, "registration-failed");
      return refusal;
    },
    deregister: ({ driverName: name }, because) => remove(name, because),
  };
}

/** The gRPC services that kubelets since 1.34 call: `servicesSupportedByKubelet` in `pkg/kubelet/cm/dra/plugin`. */
const DRA_SERVICES: readonly string[] = ["v1.DRAPlugin", "v1beta1.DRAPlugin"];

/**
 * Kubelet's handler for DRA drivers, as far as a registration sees it: it calls no driver and prepares no claim.
 * Source: `pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go`.
 */
function createDraHandler({ emit }: KubeletContext): PluginHandler {
  /** The endpoints of each driver: during an update it has several instances. */
  const registered = new Map<string, Set<string>>();
  return {
    validate: ({ driverName: name, endpoint, versions }) => {
      if (versions.some((version) => DRA_SERVICES.includes(version))) return undefined;
      const problem =
        versions.length === 0
          ? "empty list of supported gRPC services (aka supported versions)"
          : `none of services supported by the plugin (${quoteGoList(versions)}) are supported by the kubelet (${quoteGoList(DRA_SERVICES)})`;
      return `invalid supported gRPC versions of DRA driver plugin ${name} at endpoint ${endpoint}: ${problem}`;
    },
    register: async ({ driverName: name, endpoint }) => {
      const endpoints = registered.get(name) ?? new Set();
      if (endpoints.has(endpoint))
        return `endpoint ${endpoint} already registered for DRA driver plugin ${name}`;
      registered.set(name, endpoints.add(endpoint));
      return undefined;
    },
    deregister: ({ driverName, endpoint }, because) => {
      const endpoints = registered.get(driverName);
      if (!endpoints?.delete(endpoint) || endpoints.size > 0) return;
      emit({ kind: "deregistered", driverName, because });
    },
  };
}

const DEVICE_PLUGIN_VERSION = "v1beta1";
const NOTHING = Buffer.alloc(0);

/**
 * Kubelet's handler for device plugins, as far as a registration sees it: it calls the plugin and allocates no device.
 * Sources: `handler.go` and `client.go` in `pkg/kubelet/cm/devicemanager/plugin/v1beta1`, before 1.25 `pkg/kubelet/cm/devicemanager`.
 */
function createDeviceHandler(context: KubeletContext): PluginHandler {
  const { behaviour, timings, emit, call, signal } = context;
  const clients = new Map<string, Client>();
  const disconnect = (name: string) => {
    clients.get(name)?.close();
    clients.delete(name);
  };
  signal.addEventListener("abort", () => [...clients.keys()].forEach(disconnect), { once: true });

  const connect = async (client: Client, endpoint: string): Promise<Refusal> => {
    const dialled = await call("dial", endpoint, () => connected(client, timings.dialMs, signal));
    if (dialled.kind === "error") {
      const text = `failed to dial device plugin: ${dialled.error}`;
      return behaviour.namesDialledDevicePlugin
        ? `failed to dial device plugin with socketPath ${endpoint}: ${text}`
        : text;
    }
    const options = await call("GetDevicePluginOptions", endpoint, () =>
      callUnary(client, devicePlugin("GetDevicePluginOptions"), {}, { timeoutMs: Infinity, signal }),
    );
    return options.kind === "ok" ? undefined : `failed to get device plugin options: ${options.error}`;
  };
  /** Until the plugin ends it: kubelet then forgets its devices, and not the plugin. */
  const listAndWatch = (client: Client) => {
    const { path, requestSerialize, responseDeserialize } = devicePlugin("ListAndWatch");
    return finished(client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {}).resume());
  };

  return {
    validate: ({ driverName: name, versions }) => {
      if (!versions.includes(DEVICE_PLUGIN_VERSION))
        return `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(" ")}]`;
      if (!isExtendedResource(name))
        return `invalid name of device plugin socket: the ResourceName ${quoteGo(name)} is invalid`;
      return undefined;
    },
    register: async ({ driverName: name, endpoint }) => {
      const authority = authorityFor(behaviour.driverAuthority, endpoint);
      const client = createKubeletClient(endpoint, authority);
      const refusal = await connect(client, endpoint);
      if (refusal !== undefined || signal.aborted) {
        client.close();
        return refusal;
      }
      disconnect(name);
      clients.set(name, client);
      const close = () => client.close();
      call("ListAndWatch", endpoint, () => listAndWatch(client)).then(close, close);
      return undefined;
    },
    deregister: ({ driverName }, because) => {
      disconnect(driverName);
      emit({ kind: "deregistered", driverName, because });
    },
  };
}

/** A method of `k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1`, without what its messages say. */
const devicePlugin = (method: "GetDevicePluginOptions" | "ListAndWatch"): Unary<object, object> => ({
  path: `/v1beta1.DevicePlugin/${method}`,
  requestSerialize: () => NOTHING,
  responseDeserialize: () => ({}),
});
