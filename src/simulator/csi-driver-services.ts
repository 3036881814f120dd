import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { messageOf } from "../base/errors";
import type { KindsOf } from "../base/event-source";
import { protos } from "../grpc/protos";
import type { ServiceHost } from "../grpc/server/server";
import { unaryHandler } from "../grpc/server/unary-handler";
import {
  CSI_METHODS,
  type CsiDriverFault,
  type CsiMethod,
  type ResolvedCsiDriverOptions,
} from "./csi-driver-options";
import type { WithoutTime } from "./event-stream";
import type { FaultScript } from "./faults";

export type CsiDriverEvent = { readonly atMs: number } & (
  | { readonly kind: "listening"; readonly csiAddress: string }
  /** A request arrived: its method's name and its `:authority`, both as its client sent them. */
  | { readonly kind: "called"; readonly method: string; readonly authority: string }
  | {
      readonly kind: "answered";
      readonly method: CsiMethod;
      readonly durationMs: number;
      readonly result: CsiAnswerResult;
    }
  | { readonly kind: "fault-applied"; readonly fault: CsiDriverFault }
  | { readonly kind: "stopped"; readonly because: "close" | "kill" }
);

export const CSI_DRIVER_EVENTS: KindsOf<CsiDriverEvent> = {
  listening: true,
  called: true,
  answered: true,
  "fault-applied": true,
  stopped: true,
};

export type CsiAnswerResult = { readonly kind: "ok" } | { readonly kind: "error"; readonly error: string };

type Methods = typeof protos.identity & typeof protos.node;

type Answers = { readonly [Method in CsiMethod]: () => ReturnType<Methods[Method]["responseDeserialize"]> };

interface CsiDriverServicesOptions {
  readonly driver: ResolvedCsiDriverOptions;
  readonly faults: FaultScript<CsiDriverFault>;
  readonly emit: (event: WithoutTime<CsiDriverEvent>) => void;
}

/** Adds the Identity service and the part of the Node service that registration needs. */
export function addCsiDriverServices(server: ServiceHost, options: CsiDriverServicesOptions): void {
  const { driver, faults } = options;
  const hasTopology = Object.keys(driver.topology).length > 0;

  const answers: Answers = {
    GetPluginInfo: () => ({ name: driver.name, vendorVersion: driver.vendorVersion, manifest: {} }),
    GetPluginCapabilities: () => ({
      capabilities: hasTopology ? [{ service: { type: "VOLUME_ACCESSIBILITY_CONSTRAINTS" } }] : [],
    }),
    Probe: () => ({ ready: { value: faults.take("not-ready") === undefined } }),
    NodeGetCapabilities: () => ({ capabilities: [] }),
    NodeGetInfo: () => ({
      nodeId: driver.nodeId,
      maxVolumesPerNode: driver.maxVolumes,
      accessibleTopology: hasTopology ? { segments: driver.topology } : null,
    }),
  };

  const handlers = Object.fromEntries(
    CSI_METHODS.map((method) => [method, scripted(method, answers[method], options)]),
  );
  server.addService(protos.identity, handlers);
  server.addService(protos.node, handlers);
}

function scripted(method: CsiMethod, answer: () => object, options: CsiDriverServicesOptions) {
  return unaryHandler<object, object>(async (_request, { peerGone }) => {
    const startedAt = performance.now();
    const report = (result: CsiAnswerResult) =>
      options.emit({ kind: "answered", method, durationMs: performance.now() - startedAt, result });
    try {
      await misbehave(method, options, peerGone);
      const response = answer();
      report({ kind: "ok" });
      return response;
    } catch (error) {
      report({ kind: "error", error: messageOf(error) });
      throw error;
    }
  });
}

/** Plays the faults of one call; throws the error that the call should end with. */
async function misbehave(
  method: CsiMethod,
  { faults }: CsiDriverServicesOptions,
  peerGone: AbortSignal,
): Promise<void> {
  const here = (fault: { readonly method: CsiMethod }) => fault.method === method;
  const slow = faults.take("slow", here);
  if (slow) await delay(slow.delayMs, undefined, { signal: peerGone });
  if (faults.take("hang", here)) {
    if (!peerGone.aborted) await once(peerGone, "abort");
    throw new Error("the caller gave up");
  }
  const failing = faults.take("error", here);
  if (failing) {
    const message = failing.message ?? `simulated ${failing.code} of ${method}`;
    throw Object.assign(new Error(message), { code: status[failing.code] });
  }
}
