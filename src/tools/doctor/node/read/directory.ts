import { constants } from "node:fs";
import { access, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { callFileSystem } from "../../../../unix/file-calls";
import { mountPlaceOf, readMounts } from "../../../../unix/mounts";
import { type Reading, type Seen, seen, type Truth, truth, whyOf } from "../../findings/seen";
import type { NodePart, Ownership } from "./facts";
import { errnoIn, fileTypeOf, isThereNone, lookAtSocket, statsOrErrno } from "./files";

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
  const stats = await callFileSystem(path, () => stat(path)).catch((error: unknown) => {
    if (errnoIn(error) !== "ENOENT") throw error;
  });
  if (stats === undefined) return { kind: "missing", path } as const;
  if (!stats.isDirectory()) return { kind: "not-a-directory", path, fileType: fileTypeOf(stats) } as const;
  // Also of a directory that may be entered, and not be listed.
  await callFileSystem(path, () => readdir(path));
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

/** Whether these are there, other than `path`. */
export const otherDirectories = (path: string, directories: readonly string[]) =>
  Promise.all(
    directories
      .filter((other) => other !== path)
      .map(async (other) => ({ path: other, isThere: await isDirectory(other) })),
  );

async function isDirectory(path: string): Promise<Truth> {
  const found = await statsOrErrno(path);
  if (typeof found !== "string") return truth(found.isDirectory());
  const gap = { part: "directory", subject: path, why: { kind: "errno", errno: found } } as const;
  return truth(isThereNone(found) ? false : gap);
}
