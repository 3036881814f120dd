// Written by `npm run contracts` from proto/: do not edit.

import type { MethodDefinition } from "@grpc/proto-loader";

/** What a driver says of itself. */
export interface GetPluginInfoResponse {
  /** Such as "disk.csi.example.com". */
  name: string;
  /** In the driver's own format. */
  vendorVersion: string;
  /** More that the driver tells, for people. */
  manifest: { [key: string]: string };
}

export interface GetPluginCapabilitiesResponse {
  capabilities: { service?: { type: "UNKNOWN" | "CONTROLLER_SERVICE" | "VOLUME_ACCESSIBILITY_CONSTRAINTS" } | null }[];
}

export interface ProbeResponse {
  /** Absent means ready (CSI specification, Probe). */
  ready: { value: boolean } | null;
}

export interface NodeGetCapabilitiesResponse {
  capabilities: { rpc?: { type: "UNKNOWN" | "STAGE_UNSTAGE_VOLUME" | "GET_VOLUME_STATS" | "EXPAND_VOLUME" | "VOLUME_CONDITION" | "SINGLE_NODE_MULTI_WRITER" | "VOLUME_MOUNT_GROUP" | "GET_VOLUME_HEALTH" | "GET_STORAGE_HEALTH" } | null }[];
}

/** What a driver says of the node that it runs on. */
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
  GetPluginCapabilities: MethodDefinition<object, GetPluginCapabilitiesResponse>;
  Probe: MethodDefinition<object, ProbeResponse>;
}

export interface NodeDefinition {
  NodeGetCapabilities: MethodDefinition<object, NodeGetCapabilitiesResponse>;
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
    GetPluginCapabilities: {"nested":{"csi":{"nested":{"v1":{"nested":{"GetPluginCapabilitiesRequest":{"fields":{}},"GetPluginCapabilitiesResponse":{"fields":{"capabilities":{"rule":"repeated","type":"PluginCapability","id":1}}},"PluginCapability":{"oneofs":{"type":{"oneof":["service"]}},"fields":{"service":{"type":"Service","id":1}},"nested":{"Service":{"fields":{"type":{"type":"Type","id":1}},"nested":{"Type":{"values":{"UNKNOWN":0,"CONTROLLER_SERVICE":1,"VOLUME_ACCESSIBILITY_CONSTRAINTS":2}}}}}},"Identity":{"methods":{"GetPluginCapabilities":{"requestType":"GetPluginCapabilitiesRequest","responseType":"GetPluginCapabilitiesResponse"}}}}}}}}},
    Probe: {"nested":{"csi":{"nested":{"v1":{"nested":{"ProbeRequest":{"fields":{}},"ProbeResponse":{"fields":{"ready":{"type":"BoolValue","id":1}}},"BoolValue":{"fields":{"value":{"type":"bool","id":1}}},"Identity":{"methods":{"Probe":{"requestType":"ProbeRequest","responseType":"ProbeResponse"}}}}}}}}},
  },
  "csi.v1.Node": {
    NodeGetCapabilities: {"nested":{"csi":{"nested":{"v1":{"nested":{"NodeGetCapabilitiesRequest":{"fields":{}},"NodeGetCapabilitiesResponse":{"fields":{"capabilities":{"rule":"repeated","type":"NodeServiceCapability","id":1}}},"NodeServiceCapability":{"oneofs":{"type":{"oneof":["rpc"]}},"fields":{"rpc":{"type":"RPC","id":1}},"nested":{"RPC":{"fields":{"type":{"type":"Type","id":1}},"nested":{"Type":{"values":{"UNKNOWN":0,"STAGE_UNSTAGE_VOLUME":1,"GET_VOLUME_STATS":2,"EXPAND_VOLUME":3,"VOLUME_CONDITION":4,"SINGLE_NODE_MULTI_WRITER":5,"VOLUME_MOUNT_GROUP":6,"GET_VOLUME_HEALTH":7,"GET_STORAGE_HEALTH":8}}}}}},"Node":{"methods":{"NodeGetCapabilities":{"requestType":"NodeGetCapabilitiesRequest","responseType":"NodeGetCapabilitiesResponse"}}}}}}}}},
    NodeGetInfo: {"nested":{"csi":{"nested":{"v1":{"nested":{"NodeGetInfoRequest":{"fields":{}},"NodeGetInfoResponse":{"fields":{"nodeId":{"type":"string","id":1},"maxVolumesPerNode":{"type":"int64","id":2},"accessibleTopology":{"type":"Topology","id":3}}},"Topology":{"fields":{"segments":{"keyType":"string","type":"string","id":1}}},"Node":{"methods":{"NodeGetInfo":{"requestType":"NodeGetInfoRequest","responseType":"NodeGetInfoResponse"}}}}}}}}},
  },
  "pluginregistration.Registration": {
    GetInfo: {"nested":{"pluginregistration":{"nested":{"InfoRequest":{"fields":{}},"PluginInfo":{"fields":{"type":{"type":"string","id":1},"name":{"type":"string","id":2},"endpoint":{"type":"string","id":3},"supportedVersions":{"rule":"repeated","type":"string","id":4}}},"Registration":{"methods":{"GetInfo":{"requestType":"InfoRequest","responseType":"PluginInfo"}}}}}}},
    NotifyRegistrationStatus: {"nested":{"pluginregistration":{"nested":{"RegistrationStatus":{"fields":{"pluginRegistered":{"type":"bool","id":1},"error":{"type":"string","id":2}}},"RegistrationStatusResponse":{"fields":{}},"Registration":{"methods":{"NotifyRegistrationStatus":{"requestType":"RegistrationStatus","responseType":"RegistrationStatusResponse"}}}}}}},
  },
};
