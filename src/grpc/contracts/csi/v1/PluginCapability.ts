// Original file: proto/csi.proto


export interface _csi_v1_PluginCapability_ServiceInput {
  'type'?: (_csi_v1_PluginCapability_Service_TypeInput);
}

export interface _csi_v1_PluginCapability_Service {
  'type': (_csi_v1_PluginCapability_Service_Type);
}

// Original file: proto/csi.proto

export const _csi_v1_PluginCapability_Service_Type = {
  UNKNOWN: 'UNKNOWN',
  CONTROLLER_SERVICE: 'CONTROLLER_SERVICE',
  VOLUME_ACCESSIBILITY_CONSTRAINTS: 'VOLUME_ACCESSIBILITY_CONSTRAINTS',
} as const;

export type _csi_v1_PluginCapability_Service_TypeInput =
  | 'UNKNOWN'
  | 0
  | 'CONTROLLER_SERVICE'
  | 1
  | 'VOLUME_ACCESSIBILITY_CONSTRAINTS'
  | 2

export type _csi_v1_PluginCapability_Service_Type = typeof _csi_v1_PluginCapability_Service_Type[keyof typeof _csi_v1_PluginCapability_Service_Type]

export interface PluginCapabilityInput {
  'service'?: (_csi_v1_PluginCapability_ServiceInput | null);
  'type'?: "service";
}

export interface PluginCapability {
  'service'?: (_csi_v1_PluginCapability_Service | null);
}
