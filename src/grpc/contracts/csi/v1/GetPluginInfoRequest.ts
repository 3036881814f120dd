// Original file: proto/csi.proto


export interface GetPluginInfoRequestInput {
}

export interface GetPluginInfoRequest {
}
