// Original file: proto/pluginregistration.proto


export interface RegistrationStatusResponseInput {
}

export interface RegistrationStatusResponse {
}
