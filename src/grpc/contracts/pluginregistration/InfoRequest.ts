// Original file: proto/pluginregistration.proto


export interface InfoRequestInput {
}

export interface InfoRequest {
}
