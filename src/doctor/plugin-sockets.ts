import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../errors";
import { isPattern, matchSegment } from "../registrar/node-wide/path-pattern";
import { namesIn, statsOf } from "../sockets/files";

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

/** The sockets that fit a pattern, at this moment. */
export function socketsFitting(pattern: string): readonly string[] {
  const segments = pattern.split("/").slice(1);
  const paths = segments.reduce<readonly string[]>(
    (folders, segment) =>
      isPattern(segment)
        ? folders.flatMap((folder) =>
            namesIn(folder)
              .filter((name) => matchSegment(segment, name) !== undefined)
              .map((name) => join(folder, name)),
          )
        : folders.map((folder) => join(folder, segment)),
    ["/"],
  );
  return paths.filter((path) => statsOf(path)?.isSocket()).slice(0, MAX_SOCKETS);
}
