import type { Dirent } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { callFileSystem, mountOf } from "../../../unix/file-calls";
import { canHang } from "../../../unix/mounts";
import type { LeftOut } from "./facts";
import { errnoIn } from "./socket";

interface Walked {
  readonly paths: string[];
  readonly leftOut: LeftOut[];
  /** Why the directory itself cannot be listed. */
  readonly errno?: string;
}

/** The wanted files below a directory. Follows no symbolic link and enters no mount that can hang. */
export async function walk(
  directory: string,
  isWanted: (entry: Dirent) => boolean,
  mayEnter: (entry: Dirent) => boolean,
  depth = Number.POSITIVE_INFINITY,
): Promise<Walked> {
  const found: Walked = { paths: [], leftOut: [] };
  if (depth === 0) return found;
  const list = async () =>
    [await realpath(directory), await readdir(directory, { withFileTypes: true })] as const;
  try {
    const [real, entries] = await callFileSystem(directory, list);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const mount = mountOf(join(real, entry.name));
      if (mount?.isMountPoint && canHang(mount)) found.leftOut.push({ path, fileSystem: mount.fileSystem });
      else if (isWanted(entry)) found.paths.push(path);
      else if (entry.isDirectory() && mayEnter(entry)) {
        const below = await walk(path, isWanted, mayEnter, depth - 1);
        found.paths.push(...below.paths);
        found.leftOut.push(...below.leftOut);
      }
    }
    return found;
  } catch (error) {
    return { ...found, errno: errnoIn(error) };
  }
}
