import type { MethodDefinition } from "@grpc/grpc-js";
import { fromJSON } from "@grpc/proto-loader";
import descriptors from "./descriptors.json";

/** Kubelet's plugin registration API, `proto/pluginregistration.proto`. */
export interface PluginInfo {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}

export interface RegistrationStatus {
  readonly pluginRegistered: boolean;
  readonly error: string;
}

/** The parts of CSI that registration touches, `proto/csi.proto`. */
export interface PluginIdentity {
  readonly name: string;
  readonly vendorVersion: string;
  readonly manifest: Readonly<Record<string, string>>;
}

export interface ProbeResponse {
  /** Absent means ready (CSI specification, Probe). */
  readonly ready: { readonly value: boolean } | null;
}

export interface NodeInfo {
  readonly nodeId: string;
  /** 0 or less: no limit. */
  readonly maxVolumesPerNode: number;
  readonly accessibleTopology: { readonly segments: Readonly<Record<string, string>> } | null;
}

export interface PluginCapabilities {
  readonly capabilities: readonly { readonly service?: { readonly type: string } }[];
}

export interface NodeCapabilities {
  readonly capabilities: readonly { readonly rpc?: { readonly type: string } }[];
}

type Empty = Readonly<Record<string, never>>;

/** A unary method: its path and (de)serialisers, enough for a client call and for a server. */
export type Unary<Request, Response> = MethodDefinition<Request, Response>;

export interface Protos {
  readonly registration: {
    readonly GetInfo: Unary<Empty, PluginInfo>;
    readonly NotifyRegistrationStatus: Unary<RegistrationStatus, Empty>;
  };
  readonly identity: {
    readonly GetPluginInfo: Unary<Empty, PluginIdentity>;
    readonly GetPluginCapabilities: Unary<Empty, PluginCapabilities>;
    readonly Probe: Unary<Empty, ProbeResponse>;
  };
  readonly node: {
    readonly NodeGetCapabilities: Unary<Empty, NodeCapabilities>;
    readonly NodeGetInfo: Unary<Empty, NodeInfo>;
  };
}

/** The wire contracts as typed methods. Takes some milliseconds: one load serves every driver of a process. */
export function loadProtos(): Protos {
  const definition = fromJSON(descriptors as Parameters<typeof fromJSON>[0], {
    defaults: true,
    longs: Number,
    enums: String,
  });
  return {
    registration: definition["pluginregistration.Registration"] as unknown as Protos["registration"],
    identity: definition["csi.v1.Identity"] as unknown as Protos["identity"],
    node: definition["csi.v1.Node"] as unknown as Protos["node"],
  };
}
