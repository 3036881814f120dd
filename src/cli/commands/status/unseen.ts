import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Facts } from "../../../doctor/node/facts";
import { isFolder } from "../../../unix/files";

/** Why registrations are unknown; undefined if their folder was read. */
export function unseenRegistrations({ target: { hostRoot }, directory }: Facts): string | undefined {
  const { path } = directory;
  if (hostRoot !== undefined && !isFolder(hostRoot))
    return `${hostRoot} ${existsSync(hostRoot) ? "is not a folder" : "is not there"}`;
  switch (directory.kind) {
    case "missing":
      return `${path} is not there`;
    case "not-a-folder":
      return `${path} is not a folder`;
    case "out-of-reach":
      return `${path} cannot be looked at: ${directory.errno}`;
    case "folder":
      return directory.unlistable && `${path} may not be read: ${directory.unlistable}`;
    default:
      return directory satisfies never;
  }
}

/** The folders without a driver: a container may not see the node's. */
export function noDriver({ directory: { path } }: Facts): string {
  const plugins = join(dirname(path), "plugins");
  return `no driver in ${path}, ${isFolder(plugins) ? `nor in ${plugins}` : `and no ${plugins} here to look in`}`;
}
