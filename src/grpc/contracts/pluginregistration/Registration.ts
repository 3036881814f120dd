// Original file: proto/pluginregistration.proto

import type { MethodDefinition } from '@grpc/proto-loader'
import type { InfoRequestInput as _pluginregistration_InfoRequestInput, InfoRequest as _pluginregistration_InfoRequest } from '../pluginregistration/InfoRequest';
import type { PluginInfoInput as _pluginregistration_PluginInfoInput, PluginInfo as _pluginregistration_PluginInfo } from '../pluginregistration/PluginInfo';
import type { RegistrationStatusInput as _pluginregistration_RegistrationStatusInput, RegistrationStatus as _pluginregistration_RegistrationStatus } from '../pluginregistration/RegistrationStatus';
import type { RegistrationStatusResponseInput as _pluginregistration_RegistrationStatusResponseInput, RegistrationStatusResponse as _pluginregistration_RegistrationStatusResponse } from '../pluginregistration/RegistrationStatusResponse';

export interface RegistrationDefinition {
  GetInfo: MethodDefinition<_pluginregistration_InfoRequestInput, _pluginregistration_PluginInfoInput, _pluginregistration_InfoRequest, _pluginregistration_PluginInfo>
  NotifyRegistrationStatus: MethodDefinition<_pluginregistration_RegistrationStatusInput, _pluginregistration_RegistrationStatusResponseInput, _pluginregistration_RegistrationStatus, _pluginregistration_RegistrationStatusResponse>
}
