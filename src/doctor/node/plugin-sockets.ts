import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../base/errors";

/** Drivers have their socket in a folder of their own, some a folder deeper. */
const MAX_DEPTH = 4;
/** More than a node has drivers. */
const MAX_SOCKETS = 500;

/** The sockets below kubelet's `plugins`. Its own folders there, which hold mounted volumes, are passed over. */
export function socketsUnder(folder: string, depth = MAX_DEPTH): readonly string[] {
  if (depth === 0) return [];
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isSocket()) return [path];
      const isKubelets = entry.name === "kubernetes.io" || entry.name === "globalmount";
      return entry.isDirectory() && !isKubelets ? socketsUnder(path, depth - 1) : [];
    })
    .slice(0, MAX_SOCKETS);
}
