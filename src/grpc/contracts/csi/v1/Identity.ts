// Original file: proto/csi.proto

import type { MethodDefinition } from '@grpc/proto-loader'
import type { GetPluginCapabilitiesRequestInput as _csi_v1_GetPluginCapabilitiesRequestInput, GetPluginCapabilitiesRequest as _csi_v1_GetPluginCapabilitiesRequest } from '../../csi/v1/GetPluginCapabilitiesRequest';
import type { GetPluginCapabilitiesResponseInput as _csi_v1_GetPluginCapabilitiesResponseInput, GetPluginCapabilitiesResponse as _csi_v1_GetPluginCapabilitiesResponse } from '../../csi/v1/GetPluginCapabilitiesResponse';
import type { GetPluginInfoRequestInput as _csi_v1_GetPluginInfoRequestInput, GetPluginInfoRequest as _csi_v1_GetPluginInfoRequest } from '../../csi/v1/GetPluginInfoRequest';
import type { GetPluginInfoResponseInput as _csi_v1_GetPluginInfoResponseInput, GetPluginInfoResponse as _csi_v1_GetPluginInfoResponse } from '../../csi/v1/GetPluginInfoResponse';
import type { ProbeRequestInput as _csi_v1_ProbeRequestInput, ProbeRequest as _csi_v1_ProbeRequest } from '../../csi/v1/ProbeRequest';
import type { ProbeResponseInput as _csi_v1_ProbeResponseInput, ProbeResponse as _csi_v1_ProbeResponse } from '../../csi/v1/ProbeResponse';

export interface IdentityDefinition {
  GetPluginCapabilities: MethodDefinition<_csi_v1_GetPluginCapabilitiesRequestInput, _csi_v1_GetPluginCapabilitiesResponseInput, _csi_v1_GetPluginCapabilitiesRequest, _csi_v1_GetPluginCapabilitiesResponse>
  GetPluginInfo: MethodDefinition<_csi_v1_GetPluginInfoRequestInput, _csi_v1_GetPluginInfoResponseInput, _csi_v1_GetPluginInfoRequest, _csi_v1_GetPluginInfoResponse>
  Probe: MethodDefinition<_csi_v1_ProbeRequestInput, _csi_v1_ProbeResponseInput, _csi_v1_ProbeRequest, _csi_v1_ProbeResponse>
}
