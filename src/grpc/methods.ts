// Written by `npm run contracts` from proto/: do not edit.
import type { GetPluginInfoResponse, PluginInfo, RegistrationStatus } from "./contracts";
import { unaryMethod } from "./wire-format";

export const registrationMethods = {
  GetInfo: unaryMethod<object, PluginInfo>(
    "/pluginregistration.Registration/GetInfo",
    {},
    { type: [1, "text"], name: [2, "text"], endpoint: [3, "text"], supportedVersions: [4, "texts"] },
  ),
  NotifyRegistrationStatus: unaryMethod<RegistrationStatus, object>(
    "/pluginregistration.Registration/NotifyRegistrationStatus",
    { pluginRegistered: [1, "bool"], error: [2, "text"] },
    {},
  ),
};

export const identityMethods = {
  GetPluginInfo: unaryMethod<object, GetPluginInfoResponse>(
    "/csi.v1.Identity/GetPluginInfo",
    {},
    { name: [1, "text"], vendorVersion: [2, "text"], manifest: [3, "textMap"] },
  ),
};
