import { RegistrarError } from "../errors";
import type { Logger } from "../logging/logger";
import { isExtendedResource, isSubdomain } from "../resource-name";
import { admitDriverName } from "./driver/driver-name";
import type { PluginType } from "./registration/plugin-type";

/** What the API server allows for the driver of a ResourceSlice: `ValidateCSIDriverName`, `pkg/apis/core/validation`. */
const MAX_DRA_NAME_LENGTH = 63;

/**
 * Checks a plugin's name before it becomes part of a file's name. Throws UNSAFE_DRIVER_NAME: of a CSI driver for a name
 * that could leave the directory, of the other types for one that kubelet or the API server would refuse.
 */
export function admitPluginName(type: PluginType, name: string, log: Logger): void {
  switch (type) {
    case "CSIPlugin":
      admitDriverName(name, log);
      return;
    case "DRAPlugin":
      // Kubernetes takes the letters of a driver's name in either case.
      if (name.length > MAX_DRA_NAME_LENGTH || !isSubdomain(name.toLowerCase()))
        refuse(`DRA driver name ${JSON.stringify(name)} must be a DNS subdomain, 63 characters at most`);
      return;
    case "DevicePlugin":
      if (!isExtendedResource(name))
        refuse(`device plugin name ${JSON.stringify(name)} must be a resource, such as "example.com/disk"`);
      return;
    default:
      throw new Error(`no such type: ${type satisfies never}`);
  }
}

function refuse(text: string): never {
  throw new RegistrarError("UNSAFE_DRIVER_NAME", text);
}
