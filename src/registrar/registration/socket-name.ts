import { join } from "node:path";
import type { PluginType } from "./plugin-type";

/** How the name of every registration socket ends, the official registrar's too (node_register.go, buildSocketPath). */
export const SOCKET_TAIL = "-reg.sock";

/** Between a plugin's name and the tail: a CSI and a DRA driver of one name may be on one node. */
const TYPE_TAILS: Readonly<Record<PluginType, string>> = {
  CSIPlugin: "",
  DRAPlugin: "-dra",
  DevicePlugin: "-device",
};

/** What stands for a plugin in the name of its registration socket. A resource's slash cannot. */
export function fileNameOf(type: PluginType, name: string): string {
  return `${name.replace("/", "_")}${TYPE_TAILS[type]}`;
}

/** `<dir>/<driver>-reg.sock`; `name` is what stands for the plugin. */
export function registrationSocketPath(pluginRegistrationPath: string, name: string): string {
  return join(pluginRegistrationPath, name + SOCKET_TAIL);
}
