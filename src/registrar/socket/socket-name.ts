import { basename, join } from "node:path";
import { randomWord } from "../../unix/dot-socket";
import { isSocketFile, namesIn } from "../../unix/files";
import { isDeadSocket, tryConnect } from "../../unix/unix-socket";
import type { PluginType } from "../model/options";

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

/** What an alias adds to a name. The CSI specification has no `_` in names: no other driver's socket looks like this. */
const ALIAS_TAIL = /-_[0-9a-z]{3}$/;

/** A name that stands in for a driver's own in the name of its registration socket. */
export function createAlias(driverName: string): string {
  return `${driverName}-_${randomWord(3)}`;
}

/** The driver's name in the name of a registration socket; undefined for another file. */
export function driverOfSocket(path: string): string | undefined {
  return path.endsWith(SOCKET_TAIL) ? basename(path, SOCKET_TAIL).replace(ALIAS_TAIL, "") : undefined;
}

/**
 * The alias under which another registrar published this driver: one that lives, or else one that was killed and
 * left its dead socket in `folder`. Kubelet holds the driver registered by that file and refuses it by any other
 * (csi_plugin.go, validateVersions), so whoever comes next must go by the same alias.
 */
export async function findAlias(folder: string, driverName: string): Promise<string | undefined> {
  let left: string | undefined;
  for (const file of namesIn(folder)) {
    const alias = file.slice(0, -SOCKET_TAIL.length);
    if (driverOfSocket(file) !== driverName || alias === driverName) continue;
    const path = join(folder, file);
    // A symbolic link could not be published over, and leads who knows where.
    if (!isSocketFile(path)) continue;
    if ((await tryConnect(path)) === undefined) return alias;
    if (await isDeadSocket(path)) left ??= alias;
  }
  return left;
}
