// Original file: proto/csi.proto

import type { MethodDefinition } from '@grpc/proto-loader'
import type { NodeGetCapabilitiesRequestInput as _csi_v1_NodeGetCapabilitiesRequestInput, NodeGetCapabilitiesRequest as _csi_v1_NodeGetCapabilitiesRequest } from '../../csi/v1/NodeGetCapabilitiesRequest';
import type { NodeGetCapabilitiesResponseInput as _csi_v1_NodeGetCapabilitiesResponseInput, NodeGetCapabilitiesResponse as _csi_v1_NodeGetCapabilitiesResponse } from '../../csi/v1/NodeGetCapabilitiesResponse';
import type { NodeGetInfoRequestInput as _csi_v1_NodeGetInfoRequestInput, NodeGetInfoRequest as _csi_v1_NodeGetInfoRequest } from '../../csi/v1/NodeGetInfoRequest';
import type { NodeGetInfoResponseInput as _csi_v1_NodeGetInfoResponseInput, NodeGetInfoResponse as _csi_v1_NodeGetInfoResponse } from '../../csi/v1/NodeGetInfoResponse';

export interface NodeDefinition {
  NodeGetCapabilities: MethodDefinition<_csi_v1_NodeGetCapabilitiesRequestInput, _csi_v1_NodeGetCapabilitiesResponseInput, _csi_v1_NodeGetCapabilitiesRequest, _csi_v1_NodeGetCapabilitiesResponse>
  NodeGetInfo: MethodDefinition<_csi_v1_NodeGetInfoRequestInput, _csi_v1_NodeGetInfoResponseInput, _csi_v1_NodeGetInfoRequest, _csi_v1_NodeGetInfoResponse>
}
