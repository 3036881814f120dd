// Original file: proto/csi.proto

import type { TopologyInput as _csi_v1_TopologyInput, Topology as _csi_v1_Topology } from '../../csi/v1/Topology';
import type { Long } from '@grpc/proto-loader';

export interface NodeGetInfoResponseInput {
  'nodeId'?: (string);
  /**
   * 0 or less: no limit.
   */
  'maxVolumesPerNode'?: (number | string | Long);
  'accessibleTopology'?: (_csi_v1_TopologyInput | null);
}

export interface NodeGetInfoResponse {
  'nodeId': (string);
  /**
   * 0 or less: no limit.
   */
  'maxVolumesPerNode': (number);
  'accessibleTopology': (_csi_v1_Topology | null);
}
