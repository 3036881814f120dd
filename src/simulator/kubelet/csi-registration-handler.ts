import { RegistrarError } from "../../base/errors";
import { pause } from "../../base/pause";
import { callUnary } from "../../grpc/client/unary";
import { type NodeInfo, protos } from "../../grpc/protos";
import { type Version, validateVersions } from "../../kubelet-rules/driver-versions";
import { authorityFor } from "../../kubelet-rules/versions";
import { quoteGo } from "../../logging/escape";
import { MAX_SOCKET_PATH_BYTES } from "../../unix/socket-path";
import { createKubeletClient } from "./calls";
import type { KubeletContext, OfferedPlugin, PluginHandler } from "./context";
import type { DriverOnNode } from "./csi-objects";
import type { DeregistrationCause } from "./events";

const refused = (reason: string) => new RegistrarError("REFUSED", reason);

/**
 * Kubelet's handler for CSI drivers, with the list of drivers it keeps in memory.
 * Source: `RegistrationHandler` in `pkg/volume/csi/csi_plugin.go`.
 */
export function createCsiRegistrationHandler(context: KubeletContext): PluginHandler {
  const { behaviour, timings, nodeInfo, volumeLimitPeriodsMs, call, emit, signal } = context;
  const { versionsWording } = behaviour;
  /** By driver name, however many sockets a driver has. `installed`: the Node and CSINode have it. */
  const listed = new Map<string, { readonly version: Version; readonly installed: boolean }>();

  /** Takes a driver off the list and off the node; the name alone decides, not the socket it came from. */
  const remove = (name: string, because: DeregistrationCause) => {
    const driver = listed.get(name);
    listed.delete(name);
    limits.stop(name);
    nodeInfo.uninstall(name);
    if (driver?.installed) emit({ kind: "deregistered", driverName: name, because });
  };

  const nodeGetInfo = async (name: string, endpoint: string): Promise<DriverOnNode> => {
    if (Buffer.byteLength(endpoint) > MAX_SOCKET_PATH_BYTES) {
      const why = `transport: Error while dialing: dial unix ${endpoint}: connect: invalid argument`;
      throw refused(`rpc error: code = Unavailable desc = connection error: desc = "${why}"`);
    }
    const client = createKubeletClient(endpoint, authorityFor(behaviour.driverAuthority, endpoint));
    try {
      const bounds = { timeoutMs: timings.nodeGetInfoMs, signal };
      const called = await call("NodeGetInfo", endpoint, () =>
        callUnary(client, protos.node.NodeGetInfo, {}, bounds),
      );
      if (called.kind === "ok") return driverOnNode(name, called.answer);
      throw refused(called.error);
    } finally {
      client.close();
    }
  };

  const limits = createVolumeLimitUpdater(
    behaviour.updatesVolumeLimits ? volumeLimitPeriodsMs : {},
    async (driverName, endpoint, isStopped) => {
      let step = "failed to get NodeGetInfo from";
      try {
        const driver = await nodeGetInfo(driverName, endpoint);
        if (isStopped()) return;
        step = "failed to update";
        nodeInfo.updateCsiNode(driver);
      } catch (error) {
        const text = `${step} driver ${quoteGo(driverName)}: ${reasonOf(error)}`;
        if (!isStopped()) emit({ kind: "volume-limit-not-updated", driverName, error: text });
      }
    },
    signal,
  );

  const register = async ({ driverName: name, endpoint, versions }: OfferedPlugin) => {
    const before = listed.get(name);
    const version = validateVersions("RegisterPlugin", name, versions, before?.version, versionsWording);
    listed.set(name, { version, installed: before?.installed ?? false });
    // As in kubelet, this check comes too late: the nameless driver stays on the list and blocks its next attempt.
    if (name === "") throw refused("driver name is empty");
    try {
      nodeInfo.install(await nodeGetInfo(name, endpoint));
    } catch (error) {
      // A kubelet that is gone no longer changes objects.
      if (!signal.aborted) remove(name, "registration-failed");
      throw error;
    }
    listed.set(name, { version, installed: true });
    limits.start(name, endpoint);
  };

  return {
    validate: ({ driverName: name, endpoint, versions }) => {
      try {
        validateVersions("ValidatePlugin", name, versions, listed.get(name)?.version, versionsWording);
        return undefined;
      } catch (error) {
        return `validation failed for CSI Driver ${name} at endpoint ${endpoint}: ${reasonOf(error)}`;
      }
    },
    register: (plugin) => register(plugin).then(() => undefined, reasonOf),
    deregister: ({ driverName: name }, because) => remove(name, because),
  };
}

const driverOnNode = (name: string, info: NodeInfo): DriverOnNode => ({
  name,
  nodeId: info.nodeId,
  maxVolumes: info.maxVolumesPerNode,
  topology: info.accessibleTopology?.segments ?? {},
});

/** The text of a refusal; any other error is a bug of ours and is thrown again. */
function reasonOf(error: unknown): string {
  if (error instanceof RegistrarError) return error.message;
  throw error;
}

type Update = (driverName: string, endpoint: string, isStopped: () => boolean) => Promise<void>;

/**
 * Kubelet's updater of volume limits: calls `update` for a started driver at each of its periods, one call at a time; never
 * for a driver without a period. It ends with the signal. Unlike kubelet's, a period begins when the last call has ended.
 * Source: `pkg/volume/csi/csi_node_updater.go`.
 */
export function createVolumeLimitUpdater(
  periodsMs: Readonly<Record<string, number>>,
  update: Update,
  signal: AbortSignal,
) {
  const running = new Map<string, AbortController>();
  const stop = (driverName: string) => {
    running.get(driverName)?.abort();
    running.delete(driverName);
  };
  return {
    /** Begins a new period, also for a driver that was started before. */
    start: (driverName: string, endpoint: string): void => {
      stop(driverName);
      const periodMs = new Map(Object.entries(periodsMs)).get(driverName);
      if (periodMs === undefined) return;
      const stopped = new AbortController();
      running.set(driverName, stopped);
      const ended = AbortSignal.any([signal, stopped.signal]);
      repeat(periodMs, () => update(driverName, endpoint, () => ended.aborted), ended).catch(() => {});
    },
    stop,
  };
}

async function repeat(periodMs: number, act: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (await pause(periodMs, signal)) await act();
  }
}
