// Original file: proto/csi.proto


export interface TopologyInput {
  'segments'?: ({[key: string]: string});
}

export interface Topology {
  'segments': ({[key: string]: string});
}
