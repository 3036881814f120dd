import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { callFileSystem } from "../../../../unix/file-calls";
import { isDirectory } from "../../../../unix/files";
import { mountPlaceOf, readMounts } from "../../../../unix/mounts";
import type { Ownership } from "./facts";
import { errnoIn, fileTypeOf, lookAtSocket, statsOrErrno } from "./files";
import { listRegistrations } from "./registrations";

export type DirectoryFacts = Awaited<ReturnType<typeof lookAtDirectory>>;

/** Looks at the plugin registration directory. It asks the system for the right to write, and writes nothing. */
export async function lookAtDirectory(path: string, procfs: string) {
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path } as const;
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats } as const;
  if (!stats.isDirectory()) return { kind: "not-a-directory", path, fileType: fileTypeOf(stats) } as const;
  const { errno } = await listRegistrations(path);
  if (errno !== undefined) return { kind: "out-of-reach", path, errno } as const;
  const rights = constants.W_OK | constants.X_OK;
  const real = await callFileSystem(path, () => realpath(path)).catch(() => path);
  return {
    kind: "directory" as const,
    path,
    ownership: stats as Ownership,
    /** Errno of asking for the right to write; undefined: it is there. */
    unwritable: await callFileSystem(path, () => access(path, rights)).catch(errnoIn),
    /** Its place in the mount table; undefined if that cannot be read. */
    place: mountPlaceOf(real, readMounts(procfs) ?? []),
    // Kubelet's root is one up. The socket has this place in the default root only (deviceplugin v1beta1, constants.go).
    kubeletSocket: await lookAtSocket(join(dirname(path), "device-plugins", "kubelet.sock")),
  };
}

export async function otherDirectories(path: string, directories: readonly string[]) {
  const isThere = await Promise.all(directories.map(isDirectory));
  return directories.filter((directory, index) => directory !== path && isThere[index]);
}
