// Written by `npm run contracts` from proto/: do not edit.

import type { MethodDefinition } from "@grpc/proto-loader";

/** What a driver says of itself, as registrar reads it: with every field. A handler's answer may have fewer. */
export interface GetPluginInfoResponse {
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

/** What a driver says of the node that it runs on, as the test kit reads it: with every field. A handler's answer may have fewer. */
export interface NodeGetInfoResponse {
  /** The node's identity for the driver's controller. */
  nodeId: string;
  /** 0 or less: no limit. */
  maxVolumesPerNode: number;
  /** Where volumes must be to be reached from here; null: anywhere. */
  accessibleTopology: { segments: { [key: string]: string } } | null;
}

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

export interface IdentityDefinition {
  GetPluginInfo: MethodDefinition<object, GetPluginInfoResponse>;
  Probe: MethodDefinition<object, ProbeResponse>;
}

export interface NodeDefinition {
  NodeGetInfo: MethodDefinition<object, NodeGetInfoResponse>;
}

export interface RegistrationDefinition {
  GetInfo: MethodDefinition<object, PluginInfo>;
  NotifyRegistrationStatus: MethodDefinition<RegistrationStatus, object>;
}

/** By service and method, with the messages that each needs. */
export const DESCRIPTORS = {
  "csi.v1.Identity": {
    GetPluginInfo: {"nested":{"csi":{"nested":{"v1":{"nested":{"GetPluginInfoRequest":{"fields":{}},"GetPluginInfoResponse":{"fields":{"name":{"type":"string","id":1},"vendorVersion":{"type":"string","id":2},"manifest":{"keyType":"string","type":"string","id":3}}},"Identity":{"methods":{"GetPluginInfo":{"requestType":"GetPluginInfoRequest","responseType":"GetPluginInfoResponse"}}}}}}}}},
    Probe: {"nested":{"csi":{"nested":{"v1":{"nested":{"ProbeRequest":{"fields":{}},"ProbeResponse":{"fields":{"ready":{"type":"BoolValue","id":1}}},"BoolValue":{"fields":{"value":{"type":"bool","id":1}}},"Identity":{"methods":{"Probe":{"requestType":"ProbeRequest","responseType":"ProbeResponse"}}}}}}}}},
  },
  "csi.v1.Node": {
    NodeGetInfo: {"nested":{"csi":{"nested":{"v1":{"nested":{"NodeGetInfoRequest":{"fields":{}},"NodeGetInfoResponse":{"fields":{"nodeId":{"type":"string","id":1},"maxVolumesPerNode":{"type":"int64","id":2},"accessibleTopology":{"type":"Topology","id":3}}},"Topology":{"fields":{"segments":{"keyType":"string","type":"string","id":1}}},"Node":{"methods":{"NodeGetInfo":{"requestType":"NodeGetInfoRequest","responseType":"NodeGetInfoResponse"}}}}}}}}},
  },
  "pluginregistration.Registration": {
    GetInfo: {"nested":{"pluginregistration":{"nested":{"InfoRequest":{"fields":{}},"PluginInfo":{"fields":{"type":{"type":"string","id":1},"name":{"type":"string","id":2},"endpoint":{"type":"string","id":3},"supportedVersions":{"rule":"repeated","type":"string","id":4}}},"Registration":{"methods":{"GetInfo":{"requestType":"InfoRequest","responseType":"PluginInfo"}}}}}}},
    NotifyRegistrationStatus: {"nested":{"pluginregistration":{"nested":{"RegistrationStatus":{"fields":{"pluginRegistered":{"type":"bool","id":1},"error":{"type":"string","id":2}}},"RegistrationStatusResponse":{"fields":{}},"Registration":{"methods":{"NotifyRegistrationStatus":{"requestType":"RegistrationStatus","responseType":"RegistrationStatusResponse"}}}}}}},
  },
};
