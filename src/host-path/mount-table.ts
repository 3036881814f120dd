import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt } from "../base/errors";
import { type Mount, parseMountinfo } from "./mounts";

/** The mounts of this process' namespace; undefined where the system does not tell. */
export function readMounts(procfs = "/proc"): readonly Mount[] | undefined {
  return attempt(() => parseMountinfo(readFileSync(join(procfs, "self", "mountinfo"), "utf8")));
}

/** The path without symbolic links, as far as it exists. */
export function realPathOf(path: string): string {
  const folder = dirname(path);
  const real = attempt(() => realpathSync(path));
  return real ?? (folder === path ? path : join(realPathOf(folder), basename(path)));
}
