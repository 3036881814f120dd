// Original file: proto/csi.proto


export interface _csi_v1_NodeServiceCapability_RPCInput {
  'type'?: (_csi_v1_NodeServiceCapability_RPC_TypeInput);
}

export interface _csi_v1_NodeServiceCapability_RPC {
  'type': (_csi_v1_NodeServiceCapability_RPC_Type);
}

// Original file: proto/csi.proto

export const _csi_v1_NodeServiceCapability_RPC_Type = {
  UNKNOWN: 'UNKNOWN',
  STAGE_UNSTAGE_VOLUME: 'STAGE_UNSTAGE_VOLUME',
  GET_VOLUME_STATS: 'GET_VOLUME_STATS',
  EXPAND_VOLUME: 'EXPAND_VOLUME',
} as const;

export type _csi_v1_NodeServiceCapability_RPC_TypeInput =
  | 'UNKNOWN'
  | 0
  | 'STAGE_UNSTAGE_VOLUME'
  | 1
  | 'GET_VOLUME_STATS'
  | 2
  | 'EXPAND_VOLUME'
  | 3

export type _csi_v1_NodeServiceCapability_RPC_Type = typeof _csi_v1_NodeServiceCapability_RPC_Type[keyof typeof _csi_v1_NodeServiceCapability_RPC_Type]

export interface NodeServiceCapabilityInput {
  'rpc'?: (_csi_v1_NodeServiceCapability_RPCInput | null);
  'type'?: "rpc";
}

export interface NodeServiceCapability {
  'rpc'?: (_csi_v1_NodeServiceCapability_RPC | null);
}
