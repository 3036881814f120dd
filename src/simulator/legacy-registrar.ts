import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Client } from "@grpc/grpc-js";
import { messageOf, RegistrarError } from "../errors";
import { loadProtos, type Unary } from "../grpc/protos";
import { callUnary } from "../grpc/unary";
import { type LegacyCsiDriverObject, legacyCsiDriver } from "./csi-driver-object";
import type { WithoutTime } from "./event-stream";
import { goRpcError } from "./go-text";
import { connected, createKubeletClient } from "./kubelet-client";
import { createNode, type NodeObject, withNodeId, withoutNodeId } from "./node";

/** What driver-registrar has to do. */
export type LegacyMode =
  /** On every node: asks the driver for its node ID and writes that into the Node's annotation. */
  | "node-register"
  /** Once in a cluster: creates a CSIDriver object. */
  | "kubernetes-register";

export const LEGACY_MODES: readonly LegacyMode[] = ["node-register", "kubernetes-register"];

/** One step of a driver-registrar. */
export type LegacyEvent = { readonly atMs: number } & (
  | { readonly kind: "started"; readonly mode: LegacyMode; readonly csiAddress: string }
  | {
      readonly kind: "called";
      readonly call: "GetPluginInfo" | "NodeGetInfo";
      /** The driver's name or its node ID. */
      readonly answer: string;
      readonly durationMs: number;
    }
  | { readonly kind: "node-changed"; readonly node: NodeObject }
  | { readonly kind: "csi-driver-created"; readonly csiDriver: LegacyCsiDriverObject }
  | { readonly kind: "csi-driver-deleted"; readonly driverName: string }
);

export interface LegacyRegistrationOptions {
  readonly mode: LegacyMode;
  readonly csiAddress: string;
  readonly nodeName: string;
  /** Ends the wait for the driver. */
  readonly signal: AbortSignal;
}

/** The default of `--connection-timeout` in that release. */
const CONNECT_MS = 60_000;
const CALL_MS = 1_000;

/**
 * Registers a CSI driver as driver-registrar did before kubelet could, as of Kubernetes 1.12 and CSI 1.0.0. There was no
 * registration socket and no CSINode; it wrote to the API server itself, here to an object in memory. Every 2 min it
 * restored what somebody had removed; nobody does here. Resolves with a function that reverts it.
 *
 * Rejects with DRIVER_TIMEOUT if the driver does not answer, which was fatal in that release, and with ABORTED.
 * Source: `cmd/driver-registrar/{main,node_register,k8s_register}.go` of kubernetes-csi/driver-registrar, end of 2018.
 */
export async function registerAsLegacy(
  { mode, nodeName, signal, ...options }: LegacyRegistrationOptions,
  emit: (event: WithoutTime<LegacyEvent>) => void,
): Promise<() => void> {
  const csiAddress = resolve(options.csiAddress);
  const { identity, node } = loadProtos();
  emit({ kind: "started", mode, csiAddress });
  // Its grpc-go sent the address as the authority, as kubelets up to 1.24 do.
  const client = createKubeletClient(csiAddress, csiAddress);
  const ask = async <Answer>(
    call: "GetPluginInfo" | "NodeGetInfo",
    method: Unary<Readonly<Record<string, never>>, Answer>,
    essenceOf: (answer: Answer) => string,
  ) => {
    const startedAt = performance.now();
    const answer = essenceOf(await called(client, method, csiAddress, signal));
    emit({ kind: "called", call, answer, durationMs: performance.now() - startedAt });
    return answer;
  };
  try {
    await reached(client, csiAddress, signal);
    const driverName = await ask("GetPluginInfo", identity.GetPluginInfo, ({ name }) => name);
    if (mode === "kubernetes-register") {
      emit({ kind: "csi-driver-created", csiDriver: legacyCsiDriver(driverName) });
      return () => emit({ kind: "csi-driver-deleted", driverName });
    }
    const nodeId = await ask("NodeGetInfo", node.NodeGetInfo, (info) => info.nodeId);
    const bare = createNode(nodeName, randomUUID(), { "kubernetes.io/hostname": nodeName });
    const annotated = withNodeId(bare, driverName, nodeId);
    emit({ kind: "node-changed", node: annotated });
    return () => emit({ kind: "node-changed", node: withoutNodeId(annotated, driverName) });
  } finally {
    client.close();
  }
}

async function reached(client: Client, csiAddress: string, signal: AbortSignal): Promise<void> {
  try {
    await connected(client, CONNECT_MS, signal);
  } catch (cause) {
    if (signal.aborted) throw cause;
    const text = `no CSI driver came up on ${csiAddress} within ${CONNECT_MS / 1000} s`;
    throw new RegistrarError("DRIVER_TIMEOUT", text, { cause });
  }
}

async function called<Answer>(
  client: Client,
  method: Unary<Readonly<Record<string, never>>, Answer>,
  csiAddress: string,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return await callUnary(client, method, {}, { timeoutMs: CALL_MS, signal });
  } catch (cause) {
    if (signal.aborted) throw new RegistrarError("ABORTED", messageOf(cause), { cause });
    throw new RegistrarError("DRIVER_TIMEOUT", `${method.path}: ${goRpcError(cause, csiAddress)}`, { cause });
  }
}
