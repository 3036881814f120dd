import { accessSync, constants, readFileSync, realpathSync, statfsSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { attempt, errnoOf } from "../../base/errors";
import { isFolder } from "../../unix/files";
import { placeOf, readMounts } from "../../unix/mounts";
import type { DirectoryFacts, SelinuxFacts } from "./facts";
import { listRegistrations } from "./registration-facts";
import { fileTypeOf, lookAtSocket, ownershipOf, statsOrErrno } from "./socket-facts";

/** Looks at the plugin registration directory. It asks the system for the right and the room to write, and writes nothing. */
export async function lookAtDirectory(path: string, procfs: string): Promise<DirectoryFacts> {
  const stats = statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path };
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats };
  if (!stats.isDirectory()) return { kind: "not-a-folder", path, fileType: fileTypeOf(stats) };
  return {
    kind: "folder",
    path,
    ownership: ownershipOf(stats),
    unlistable: listRegistrations(path).errno,
    unwritable: errnoIn(() => accessSync(path, constants.W_OK | constants.X_OK)) ?? fullIn(path),
    unwatchable: errnoIn(() => watch(path).close()),
    place: attempt(() => placeOf(realpathSync(path), readMounts(procfs) ?? [])),
    // Kubelet's root is one up. The socket has this place in the default root only (deviceplugin v1beta1, constants.go).
    kubeletSocket: await lookAtSocket(join(dirname(path), "device-plugins", "kubelet.sock")),
  };
}

/** Some file systems count no inodes: they have 0 of 0 left. */
function fullIn(path: string): string | undefined {
  const { files = 0, ffree } = attempt(() => statfsSync(path)) ?? {};
  return files > 0 && ffree === 0 ? "ENOSPC" : undefined;
}

function errnoIn(act: () => void): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return errnoOf(error) ?? "EIO";
  }
}

/** Those of `directories` that exist, except `path`. */
export function otherDirectories(path: string, directories: readonly string[]): readonly string[] {
  return directories.filter((directory) => directory !== path && isFolder(directory));
}

/** Reads what SELinux shows without its tools; a kernel with SELinux switched off does not list its file system. */
export function lookAtSelinux(procfs: string, sysfs: string): SelinuxFacts {
  const fileSystems = readText(join(procfs, "filesystems"));
  if (fileSystems === undefined) return { kind: "unknown" };
  if (!/\bselinuxfs$/m.test(fileSystems)) return { kind: "off" };
  const enforce = readText(join(sysfs, "fs", "selinux", "enforce"))?.trim();
  const modes: Readonly<Record<string, "enforcing" | "permissive">> = { "1": "enforcing", "0": "permissive" };
  const label = readText(join(procfs, "self", "attr", "current"))
    ?.replace(/\0.*$/s, "")
    .trim();
  return { kind: "on", mode: modes[enforce ?? ""], label: label === "" ? undefined : label };
}

const readText = (path: string) => attempt(() => readFileSync(path, "utf8"));
