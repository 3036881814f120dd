import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { systemError } from "../../../../base/errors";
import { mountPlaceOf, readMounts } from "../../../../unix/mounts";
import { type Reading, type Seen, seen, truth, whyOf } from "../../findings/seen";
import type { NodePart } from "./facts";
import {
  askForRights,
  errnoIn,
  fileTypeOf,
  isThereNone,
  reachBelow,
  readNames,
  realPath,
  statsOrErrno,
} from "./files";
import { lookAtSocket, type Ownership } from "./socket";

export type DirectoryFacts = Awaited<ReturnType<typeof seeDirectory>>;

/** Looks at the plugin registration directory. It asks the system for the right to write, and writes nothing. */
export async function lookAtDirectory(
  path: string,
  procfs: string,
  reading: Reading<NodePart>,
): Promise<Seen<DirectoryFacts, NodePart>> {
  try {
    return seen(await seeDirectory(path, procfs));
  } catch (error) {
    return reading.unread({ part: "directory", subject: path, why: whyOf(error) });
  }
}

async function seeDirectory(path: string, procfs: string) {
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path } as const;
  if (typeof stats === "string") throw systemError(stats);
  if (!stats.isDirectory()) return { kind: "not-a-directory", path, fileType: fileTypeOf(stats) } as const;
  // Also of a directory that may be entered, and not be listed.
  await readNames(path);
  return {
    kind: "directory" as const,
    path,
    ownership: stats as Ownership,
    /** Errno of asking for the right to write; undefined: it is there. */
    unwritable: await askForRights(path, constants.W_OK | constants.X_OK).catch(errnoIn),
    /** Its place in the mount table; undefined if that cannot be read. */
    place: mountPlaceOf(await realPath(path), readMounts(procfs) ?? []),
    // Kubelet's root is one up. The socket has this place in the default root only (deviceplugin v1beta1, constants.go).
    kubeletSocket: await lookAtSocket(join(dirname(path), "device-plugins", "kubelet.sock")),
  };
}

/** Whether these directories of the host are there, other than `path`. */
export async function otherDirectories(path: string, directories: readonly string[], hostRoot = "/") {
  const looked = directories.map(async (given) => {
    let place = join(hostRoot, given);
    try {
      place = await reachBelow(hostRoot, given);
      const stats = await statsOrErrno(place);
      if (typeof stats === "string" && !isThereNone(stats)) throw systemError(stats);
      return { path: place, isThere: truth(typeof stats !== "string" && stats.isDirectory()) };
    } catch (error) {
      return { path: place, isThere: truth({ part: "directory", subject: place, why: whyOf(error) }) };
    }
  });
  return (await Promise.all(looked)).filter((other) => other.path !== path);
}
