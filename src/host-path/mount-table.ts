import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt } from "../base/errors";

/** The path without symbolic links, as far as it exists. */
export function realPathOf(path: string): string {
  const folder = dirname(path);
  const real = attempt(() => realpathSync(path));
  return real ?? (folder === path ? path : join(realPathOf(folder), basename(path)));
}
