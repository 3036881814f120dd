import { RegistrarError } from "../errors";
import type { Logger } from "../logging/logger";
import { admitDriverName } from "./driver/driver-name";
import type { PluginType } from "./registration/plugin-type";

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const SUBDOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
/** What the Kubernetes API allows for a driver in a ResourceSlice: `validateDriverName` in `pkg/apis/resource`. */
const MAX_DRA_NAME_LENGTH = 63;
/** Kubelet puts `requests.` in front and checks the whole: `IsExtendedResourceName`, `pkg/apis/core/v1/helper`. */
const MAX_RESOURCE_PREFIX_LENGTH = 253 - "requests.".length;
const RESOURCE = /^(?<prefix>[^/]+)\/[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

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
      if (name.length > MAX_DRA_NAME_LENGTH || !SUBDOMAIN.test(name))
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

function isExtendedResource(name: string): boolean {
  const { prefix = "" } = RESOURCE.exec(name)?.groups ?? {};
  const isFree = !name.includes("kubernetes.io/") && !prefix.startsWith("requests.");
  return isFree && prefix.length <= MAX_RESOURCE_PREFIX_LENGTH && SUBDOMAIN.test(prefix);
}

function refuse(text: string): never {
  throw new RegistrarError("UNSAFE_DRIVER_NAME", text);
}
