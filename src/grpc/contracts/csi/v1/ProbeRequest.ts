// Original file: proto/csi.proto


export interface ProbeRequestInput {
}

export interface ProbeRequest {
}
