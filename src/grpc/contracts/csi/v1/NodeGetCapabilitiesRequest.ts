// Original file: proto/csi.proto


export interface NodeGetCapabilitiesRequestInput {
}

export interface NodeGetCapabilitiesRequest {
}
