import { constants, readFileSync, watch } from "node:fs";
import { access, realpath, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { attempt } from "../../../base/errors";
import { callFileSystem } from "../../../unix/file-calls";
import { placeOf, readMounts } from "../../../unix/mounts";
import type { DirectoryFacts, SelinuxFacts } from "./facts";
import { listRegistrations } from "./registrations";
import { errnoIn, fileTypeOf, isDirectory, lookAtSocket, ownershipOf, statsOrErrno } from "./socket";

/** Looks at the plugin registration directory. It asks the system for the right and the room to write, and writes nothing. */
export async function lookAtDirectory(path: string, procfs: string): Promise<DirectoryFacts> {
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path };
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats };
  if (!stats.isDirectory()) return { kind: "not-a-folder", path, fileType: fileTypeOf(stats) };
  const rights = constants.W_OK | constants.X_OK;
  const real = await callFileSystem(path, () => realpath(path)).catch(() => path);
  return {
    kind: "folder",
    path,
    ownership: ownershipOf(stats),
    unlistable: (await listRegistrations(path)).errno,
    unwritable:
      (await callFileSystem(path, () => access(path, rights)).catch(errnoIn)) ?? (await fullIn(path)),
    unwatchable: watchProblem(path),
    place: placeOf(real, readMounts(procfs) ?? []),
    // Kubelet's root is one up. The socket has this place in the default root only (deviceplugin v1beta1, constants.go).
    kubeletSocket: await lookAtSocket(join(dirname(path), "device-plugins", "kubelet.sock")),
  };
}

/** Some file systems count no inodes: they have 0 of 0 left. */
async function fullIn(path: string): Promise<string | undefined> {
  const { files = 0, ffree } = (await callFileSystem(path, () => statfs(path)).catch(() => undefined)) ?? {};
  return files > 0 && ffree === 0 ? "ENOSPC" : undefined;
}

function watchProblem(path: string): string | undefined {
  try {
    watch(path).close();
    return undefined;
  } catch (error) {
    return errnoIn(error);
  }
}

/** Those of `directories` that exist, except `path`. */
export async function otherDirectories(
  path: string,
  directories: readonly string[],
): Promise<readonly string[]> {
  const isThere = await Promise.all(directories.map(isDirectory));
  return directories.filter((directory, index) => directory !== path && isThere[index]);
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
