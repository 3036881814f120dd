// Original file: proto/csi.proto


export interface NodeGetInfoRequestInput {
}

export interface NodeGetInfoRequest {
}
