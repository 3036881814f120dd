// Original file: proto/csi.proto

import type { PluginCapabilityInput as _csi_v1_PluginCapabilityInput, PluginCapability as _csi_v1_PluginCapability } from '../../csi/v1/PluginCapability';

export interface GetPluginCapabilitiesResponseInput {
  'capabilities'?: (_csi_v1_PluginCapabilityInput)[];
}

export interface GetPluginCapabilitiesResponse {
  'capabilities': (_csi_v1_PluginCapability)[];
}
