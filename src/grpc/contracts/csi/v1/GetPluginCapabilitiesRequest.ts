// Original file: proto/csi.proto


export interface GetPluginCapabilitiesRequestInput {
}

export interface GetPluginCapabilitiesRequest {
}
