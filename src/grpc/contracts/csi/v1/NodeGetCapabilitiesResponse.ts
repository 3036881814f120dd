// Original file: proto/csi.proto

import type { NodeServiceCapabilityInput as _csi_v1_NodeServiceCapabilityInput, NodeServiceCapability as _csi_v1_NodeServiceCapability } from '../../csi/v1/NodeServiceCapability';

export interface NodeGetCapabilitiesResponseInput {
  'capabilities'?: (_csi_v1_NodeServiceCapabilityInput)[];
}

export interface NodeGetCapabilitiesResponse {
  'capabilities': (_csi_v1_NodeServiceCapability)[];
}
