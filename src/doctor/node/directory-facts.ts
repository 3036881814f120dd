import { accessSync, constants, realpathSync, statfsSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { attempt, errnoOf } from "../../base/errors";
import { readMounts } from "../../host-path/mount-table";
import { placeOf } from "../../host-path/mounts";
import type { DirectoryFacts } from "./facts";
import { listRegistrations } from "./registration-facts";
import { fileTypeOf, lookAtSocket, ownershipOf, statsOrErrno } from "./socket-facts";

/** Looks at the plugin registration directory. The right and the room to write are asked of the system, not tried. */
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
