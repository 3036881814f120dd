import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { messageOf } from "../base/errors";
import {
  type NodeCapabilities,
  type NodeInfo,
  type PluginCapabilities,
  type PluginIdentity,
  type ProbeResponse,
  protos,
} from "../grpc/protos";
import type { ServiceHost } from "../grpc/server/server";
import { unaryHandler } from "../grpc/server/unary-handler";
import type { CsiAnswerResult, EmitCsiDriverEvent } from "./csi-driver-events";
import type { CsiDriverFault, CsiMethod, ResolvedCsiDriverOptions } from "./csi-driver-options";
import type { FaultScript } from "./faults";

/** What the services answer, and where they report it. */
export interface CsiDriverServicesOptions {
  readonly driver: ResolvedCsiDriverOptions;
  readonly faults: FaultScript<CsiDriverFault>;
  readonly emit: EmitCsiDriverEvent;
}

/** Adds the Identity service and the part of the Node service that registration needs. */
export function addCsiDriverServices(server: ServiceHost, options: CsiDriverServicesOptions): void {
  const { driver } = options;
  const hasTopology = Object.keys(driver.topology).length > 0;

  const pluginInfo = (): PluginIdentity => ({
    name: driver.name,
    vendorVersion: driver.vendorVersion,
    manifest: {},
  });
  const pluginCapabilities = (): PluginCapabilities => ({
    capabilities: hasTopology ? [{ service: { type: "VOLUME_ACCESSIBILITY_CONSTRAINTS" } }] : [],
  });
  const probe = (): ProbeResponse => {
    const starting = options.faults.take("not-ready");
    if (starting) options.emit({ kind: "fault-applied", fault: starting });
    return { ready: { value: starting === undefined } };
  };
  const nodeCapabilities = (): NodeCapabilities => ({ capabilities: [] });
  const nodeInfo = (): NodeInfo => ({
    nodeId: driver.nodeId,
    maxVolumesPerNode: driver.maxVolumes,
    accessibleTopology: hasTopology ? { segments: driver.topology } : null,
  });

  server.addService(protos.identity, {
    GetPluginInfo: scripted("GetPluginInfo", pluginInfo, options),
    GetPluginCapabilities: scripted("GetPluginCapabilities", pluginCapabilities, options),
    Probe: scripted("Probe", probe, options),
  });
  server.addService(protos.node, {
    NodeGetCapabilities: scripted("NodeGetCapabilities", nodeCapabilities, options),
    NodeGetInfo: scripted("NodeGetInfo", nodeInfo, options),
  });
}

/** A method: its faults first, then its answer; the outcome is reported. */
function scripted<Response>(method: CsiMethod, answer: () => Response, options: CsiDriverServicesOptions) {
  return unaryHandler<object, Response>(async (_request, { peerGone }) => {
    const startedAt = performance.now();
    const told = (result: CsiAnswerResult) =>
      options.emit({ kind: "answered", method, durationMs: performance.now() - startedAt, result });
    try {
      await misbehave(method, options, peerGone);
      const response = answer();
      told({ kind: "ok" });
      return response;
    } catch (error) {
      told({ kind: "error", error: messageOf(error) });
      throw error;
    }
  });
}

/** Plays the faults of one call; throws the error that the call should end with. */
async function misbehave(
  method: CsiMethod,
  { faults, emit }: CsiDriverServicesOptions,
  peerGone: AbortSignal,
): Promise<void> {
  const here = (fault: { readonly method: CsiMethod }) => fault.method === method;
  const slow = faults.take("slow", here);
  if (slow) {
    emit({ kind: "fault-applied", fault: slow });
    await delay(slow.delayMs, undefined, { signal: peerGone });
  }
  const hang = faults.take("hang", here);
  if (hang) {
    emit({ kind: "fault-applied", fault: hang });
    await aborted(peerGone);
  }
  const failing = faults.take("error", here);
  if (failing) {
    emit({ kind: "fault-applied", fault: failing });
    const message = failing.message ?? `simulated ${failing.code} of ${method}`;
    throw Object.assign(new Error(message), { code: status[failing.code] });
  }
}

/** Rejects when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(new Error("the caller gave up"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
