// Written by `npm run contracts` from proto/: do not edit.

import { unaryMethod } from "./wire-format";

/** How a plugin introduces itself. */
export interface PluginInfo {
  /** "CSIPlugin" for a CSI driver; kubelet also knows "DevicePlugin" and "DRAPlugin". */
  type: string;
  /** The driver's name. */
  name: string;
  /** Where kubelet reaches the plugin; empty means the registration socket itself. */
  endpoint: string;
  /** Versions of the plugin's own API. */
  supportedVersions: string[];
}

export interface RegistrationStatus {
  pluginRegistered: boolean;
  /** Kubelet's reason when it refused. */
  error: string;
}

/** What a driver says of itself. */
export interface PluginIdentity {
  /** Such as "disk.csi.example.com". */
  name: string;
  /** In the driver's own format. */
  vendorVersion: string;
  /** More that the driver tells, for people. */
  manifest: { [key: string]: string };
}

export interface ProbeResponse {
  /** Absent means ready (CSI specification, Probe). */
  ready: { value: boolean } | null;
}

/** What a driver says of the node that it runs on. */
export interface NodeInfo {
  /** The node's identity for the driver's controller. */
  nodeId: string;
  /** 0 or less: no limit. */
  maxVolumesPerNode: number;
  /** Where volumes must be to be reached from here; null: anywhere. */
  accessibleTopology: { segments: { [key: string]: string } } | null;
}

/** The wire contracts as typed methods, by service. */
export const protos = {
  registration: {
    GetInfo: unaryMethod<object, PluginInfo>(
      "/pluginregistration.Registration/GetInfo",
      {},
      { type: [1, "text"], name: [2, "text"], endpoint: [3, "text"], supportedVersions: [4, "texts"] },
    ),
    NotifyRegistrationStatus: unaryMethod<RegistrationStatus, object>(
      "/pluginregistration.Registration/NotifyRegistrationStatus",
      { pluginRegistered: [1, "bool"], error: [2, "text"] },
      {},
    ),
  },
  identity: {
    GetPluginInfo: unaryMethod<object, PluginIdentity>(
      "/csi.v1.Identity/GetPluginInfo",
      {},
      { name: [1, "text"], vendorVersion: [2, "text"], manifest: [3, "textMap"] },
    ),
    Probe: unaryMethod<object, ProbeResponse>(
      "/csi.v1.Identity/Probe",
      {},
      { ready: [1, { value: [1, "bool"] }] },
    ),
  },
  node: {
    NodeGetInfo: unaryMethod<object, NodeInfo>(
      "/csi.v1.Node/NodeGetInfo",
      {},
      { nodeId: [1, "text"], maxVolumesPerNode: [2, "int64"], accessibleTopology: [3, { segments: [1, "textMap"] }] },
    ),
  },
};
