import { once } from "node:events";
import { type Server, status } from "@grpc/grpc-js";
import { messageOf } from "../../base/errors";
import type { EventKinds } from "../../base/event-source";
import { monotonicMs, pause } from "../../base/pause";
import { protos } from "../../grpc/protos";
import { unaryHandler } from "../../grpc/server";
import type { WithoutTime } from "../event-stream";
import type { FaultScript } from "../simulator-options";
import {
  CSI_METHODS,
  type CsiDriverFault,
  type CsiHealth,
  type CsiMethod,
  type NodeCapability,
  type ResolvedCsiDriverAnswers,
} from "./options";

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

export const CSI_DRIVER_EVENTS: EventKinds<CsiDriverEvent> = {
  listening: true,
  called: true,
  answered: true,
  "fault-applied": true,
  stopped: true,
};

export type CsiAnswerResult = { readonly kind: "ok" } | { readonly kind: "error"; readonly error: string };

type Methods = typeof protos.identity & typeof protos.node;

type Answers = {
  readonly [Method in CsiMethod]: (
    request: ReturnType<Methods[Method]["requestDeserialize"]>,
  ) => ReturnType<Methods[Method]["responseDeserialize"]>;
};

const TROUBLES = {
  healthy: undefined,
  degraded: { volume: "DEGRADED", storage: "STORAGE_DEGRADED", reason: "PathLost" },
  unreachable: { volume: "INACCESSIBLE", storage: "STORAGE_UNREACHABLE", reason: "NoPath" },
} as const;

interface CsiDriverServicesOptions {
  readonly name: string;
  /** The present ones. */
  readonly answers: () => ResolvedCsiDriverAnswers;
  readonly faults: FaultScript<CsiDriverFault>;
  readonly emit: (event: WithoutTime<CsiDriverEvent>) => void;
}

/** Creates the function that adds the Identity service and the part of the Node service that registration needs. */
export function createCsiDriverServices(options: CsiDriverServicesOptions): (server: Server) => void {
  const { name, answers: present, faults } = options;
  const hasTopology = () => Object.keys(present().topology).length > 0;
  const volumeTroubles = createTroubles("volume", () => present().health);
  const storageTroubles = createTroubles("storage", () => present().health);

  const answers: Answers = {
    GetPluginInfo: () => ({ name, vendorVersion: present().vendorVersion, manifest: {} }),
    GetPluginCapabilities: () => ({
      capabilities: hasTopology() ? [{ service: { type: "VOLUME_ACCESSIBILITY_CONSTRAINTS" } }] : [],
    }),
    Probe: () => ({ ready: { value: faults.take("not-ready") === undefined } }),
    NodeGetCapabilities: () => ({ capabilities: announced(present()).map((type) => ({ rpc: { type } })) }),
    NodeGetInfo: () => ({
      nodeId: present().nodeId,
      maxVolumesPerNode: present().maxVolumes,
      accessibleTopology: hasTopology() ? { segments: present().topology } : null,
    }),
    NodeGetVolumeHealth: ({ volumeId }) => ({
      volumeHealth: { volumeId, healthStatuses: volumeTroubles(volumeId) },
    }),
    NodeGetStorageHealth: () => ({ backendHealth: storageTroubles() }),
  };

  const handlers = Object.fromEntries(
    CSI_METHODS.map((method) => [method, scripted(method, answers[method] as Answer, options)]),
  );
  return (server) => {
    server.addService(protos.identity, handlers);
    server.addService(protos.node, handlers);
  };
}

function announced({ nodeCapabilities, health }: ResolvedCsiDriverAnswers): readonly NodeCapability[] {
  if (health === "none") return [...new Set(nodeCapabilities)];
  return [...new Set([...nodeCapabilities, "GET_VOLUME_HEALTH", "GET_STORAGE_HEALTH"] as const)];
}

/** The troubles to answer with, call by call: of each volume by itself. A changed health counts calls from 1 again. */
function createTroubles<Subject extends "volume" | "storage">(of: Subject, healthNow: () => CsiHealth) {
  const callsOf = new Map<string, number>();
  let before = healthNow();
  return (subject = "") => {
    const health = healthNow();
    if (health !== before) callsOf.clear();
    before = health;
    if (health === "none")
      throw Object.assign(new Error("this driver has no health calls"), { code: status.UNIMPLEMENTED });
    const calls = (callsOf.get(subject) ?? 0) + 1;
    callsOf.set(subject, calls);
    const isDegraded = calls % 2 === 1;
    const trouble = TROUBLES[health === "flapping" ? (isDegraded ? "degraded" : "healthy") : health];
    return trouble === undefined
      ? []
      : [{ status: trouble[of], reason: trouble.reason, message: `simulated, call ${calls}` }];
  };
}

type Answer = (request: object) => object;

function scripted(method: CsiMethod, answer: Answer, options: CsiDriverServicesOptions) {
  return unaryHandler<object, object>(async (request, { peerGone }) => {
    const startedAt = monotonicMs();
    const report = (result: CsiAnswerResult) =>
      options.emit({ kind: "answered", method, durationMs: monotonicMs() - startedAt, result });
    try {
      await misbehave(method, options, peerGone);
      const response = answer(request);
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
  if (slow && !(await pause(slow.delayMs, peerGone))) throw new Error("the caller gave up");
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
