import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { RegistrarError } from "../../base/errors";
import { listNames } from "../../unix/files";
import { randomWord } from "../../unix/private-socket";
import { fitsSocketPath } from "../../unix/socket-path";
import { judgeSocket, type SocketFound } from "../../unix/unix-socket";
import type { PluginType, ResolvedOptions } from "./options";

/** The end of every registration socket's name, as at the official registrar (node_register.go, buildSocketPath). */
export const SOCKET_TAIL = "-reg.sock";

/** Between a plugin's name and the tail: a node may have a CSI and a DRA driver of one name. No driver's name has `_`. */
const TYPE_TAILS: Readonly<Record<PluginType, string>> = {
  CSIPlugin: "",
  DRAPlugin: "_dra",
  DevicePlugin: "_device",
};

/** On the host, where a socket's path may be longer than in here. */
const KUBELETS_DIRECTORY = "/var/lib/kubelet/plugins_registry";

type PluginFacts = Pick<ResolvedOptions, "type" | "instance" | "pluginRegistrationPath">;

/** The part of a registration socket's name that stands for the plugin; a resource has a slash, a file name cannot. */
export function fileNameOf({ type, instance, pluginRegistrationPath }: PluginFacts, name: string): string {
  if (instance === undefined) return `${name.replace("/", "_")}${TYPE_TAILS[type]}`;
  // As Go's kubeletplugin names them (draplugin.go, RollingUpdateRegistrarSocketFile), with digests where that is too long.
  const digest = (text: string, length: number) =>
    createHash("sha256").update(text).digest("hex").slice(0, length);
  const directories = [pluginRegistrationPath, KUBELETS_DIRECTORY];
  const fits = (one: string) =>
    directories.every((path) => fitsSocketPath(registrationSocketPath(path, one)));
  const names = [`${name}-${instance}`, `${name}-${digest(instance, 16)}`];
  return names.find(fits) ?? `dra-${digest(`${name}/${instance}`, 32)}`;
}

export function registrationSocketPath(pluginRegistrationPath: string, name: string): string {
  return join(pluginRegistrationPath, name + SOCKET_TAIL);
}

/** Throws SOCKET_UNUSABLE if the driver itself listens where its registration socket goes. */
export function refuseDriversOwn(socketPath: string, csiSocketPath: string): void {
  if (socketPath !== csiSocketPath) return;
  throw new RegistrarError(
    "SOCKET_UNUSABLE",
    `${socketPath} is the driver's own socket, and its registration socket goes there: give the driver another path, outside the plugin registration directory`,
  );
}

/** What an alias adds to a name. The CSI specification has no `_` in names, so no other driver's socket looks like this. */
const ALIAS_TAIL = /-_[0-9a-z]{3}$/;

/**
 * An alias for a name, or the one after `alias`. There are 36 in a row, so that kubelet, which keeps a backoff for each path
 * that failed, has few to keep: when the first one comes again, its backoff of at most 2 min 2 s is over.
 */
export function nextAlias(driverName: string, alias?: string): string {
  if (alias === undefined) return `${driverName}-_${randomWord(3)}`;
  const last = (Number.parseInt(alias.slice(-1), 36) + 1) % 36;
  return alias.slice(0, -1) + last.toString(36);
}

/** The driver's name in the name of a registration socket; undefined for another file. */
export function driverOfSocket(path: string): string | undefined {
  return path.endsWith(SOCKET_TAIL) ? basename(path, SOCKET_TAIL).replace(ALIAS_TAIL, "") : undefined;
}

/** A registration socket of a driver: its alias, undefined where it has the driver's own name, and what it is. */
export type SocketOfDriver = readonly [alias: string | undefined, found: SocketFound];

/** All sockets of a driver in `directory`, judged at the same time. Rejects where the directory cannot be read. */
export async function socketsOf(directory: string, driverName: string): Promise<SocketOfDriver[]> {
  // A driver may be named like another one's alias.
  const isOf = (file: string) => file === driverName + SOCKET_TAIL || driverOfSocket(file) === driverName;
  const files = (await listNames(directory)).filter(isOf);
  return Promise.all(
    files.map(async (file): Promise<SocketOfDriver> => {
      const name = file.slice(0, -SOCKET_TAIL.length);
      return [name === driverName ? undefined : name, await judgeSocket(join(directory, file))];
    }),
  );
}

/**
 * The alias under which another registrar published this driver: a living one, or else, unless one lives under the driver's own
 * name, one that was killed and left its dead socket. For kubelet the driver is registered by that file; it refuses any other
 * (csi_plugin.go, validateVersions), so the next registrar must use the same alias.
 */
export function aliasInUse(sockets: readonly SocketOfDriver[]): string | undefined {
  const aliases = sockets.filter(([alias]) => alias !== undefined);
  const found = (wanted: SocketFound, among: readonly SocketOfDriver[]) =>
    among.find(([, one]) => one === wanted);
  return (found("taken", aliases) ?? found("taken", sockets) ?? found("dead", aliases))?.[0];
}

/**
 * The alias for the next try, when kubelet has the driver by a socket whose registrar does not live: that of a dead socket, which
 * may be the one. Kubelet refuses every other.
 */
export function aliasAfterPeer(
  sockets: readonly SocketOfDriver[],
  ours: string | undefined,
): string | undefined {
  const dead = sockets.find(([, found]) => found === "dead");
  return dead ? dead[0] : ours;
}
