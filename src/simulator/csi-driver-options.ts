import { resolve } from "node:path";
import type { status } from "@grpc/grpc-js";
import { RegistrarError } from "../errors";
import { MAX_SOCKET_PATH_BYTES } from "../sockets/socket-path";

/** The calls that the simulated CSI driver answers. */
export type CsiMethod =
  | "GetPluginInfo"
  | "GetPluginCapabilities"
  | "Probe"
  | "NodeGetCapabilities"
  | "NodeGetInfo";

/** Something that a simulated CSI driver does wrong on request. */
export type CsiDriverFault =
  /** Answers this much later. */
  | { readonly kind: "slow"; readonly method: CsiMethod; readonly delayMs: number; readonly times?: number }
  /** Answers with this status. */
  | {
      readonly kind: "error";
      readonly method: CsiMethod;
      readonly code: Exclude<keyof typeof status, "OK">;
      /** Default: a text that says that the error is simulated. */
      readonly message?: string;
      readonly times?: number;
    }
  /** Never answers; the call ends when its client gives up. */
  | { readonly kind: "hang"; readonly method: CsiMethod; readonly times?: number }
  /** Probe says that the driver is still starting. */
  | { readonly kind: "not-ready"; readonly times?: number };

/** How to simulate a CSI driver. */
export interface CsiDriverOptions {
  /** Path of the unix socket to listen on. Its folder must exist; a socket left there is replaced. */
  readonly csiAddress: string;
  /** What GetPluginInfo answers; not checked, so that you can test invalid names. */
  readonly name: string;
  /** Default `0.0.0`. */
  readonly vendorVersion?: string;
  /** Default `node-1`; may be empty. */
  readonly nodeId?: string;
  /** Topology segments; none by default. */
  readonly topology?: Readonly<Record<string, string>>;
  /** Volume limit of the node. Default 0: no limit. */
  readonly maxVolumes?: number;
  /** Milliseconds until it listens. Default 0. */
  readonly listenAfterMs?: number;
  /** What goes wrong on request. Default: nothing. */
  readonly faults?: readonly CsiDriverFault[];
}

/** Options with every default filled in. */
export type ResolvedCsiDriverOptions = Required<CsiDriverOptions>;

/** Fills defaults and rejects what cannot work; throws INVALID_OPTION. */
export function resolveCsiDriverOptions(options: CsiDriverOptions): ResolvedCsiDriverOptions {
  const csiAddress = resolve(options.csiAddress);
  if (options.csiAddress === "" || Buffer.byteLength(csiAddress) > MAX_SOCKET_PATH_BYTES) {
    const text = `csiAddress "${csiAddress}" cannot be a unix socket: it must have 1 to ${MAX_SOCKET_PATH_BYTES} bytes`;
    throw new RegistrarError("INVALID_OPTION", text);
  }
  return {
    csiAddress,
    name: options.name,
    vendorVersion: options.vendorVersion ?? "0.0.0",
    nodeId: options.nodeId ?? "node-1",
    topology: options.topology ?? {},
    maxVolumes: options.maxVolumes ?? 0,
    listenAfterMs: options.listenAfterMs ?? 0,
    faults: options.faults ?? [],
  };
}
