import { join } from "node:path";
import type { Place } from "../mounts";
import { isTemplate } from "./deployment";
import { KNOWN_DIRECTORIES } from "./host-facts";

/**
 * The plugin registration directory as kubelet calls it. What the mount tells is the path on the directory's own file
 * system: that is longer than kubelet's where kubelet's root is a bind mount, and shorter where it is a file system of
 * its own. So what kubelet is told counts first, then where kubelets usually are.
 */
export function kubeletDirectoryOf(
  place: Pick<Place, "path">,
  kubeletRegistrationPath: string | undefined,
): string {
  const root = kubeletRootOf(kubeletRegistrationPath ?? "");
  if (root !== undefined) return join(root, "plugins_registry");
  const [longest] = KNOWN_DIRECTORIES.filter((known) => place.path.endsWith(known)).sort(
    (one, other) => other.length - one.length,
  );
  return longest ?? KNOWN_DIRECTORIES.find((known) => known.endsWith(place.path)) ?? place.path;
}

/** Kubelet's root, by a path below its `plugins`; undefined for a path elsewhere, and for one that is to be filled in. */
export function kubeletRootOf(path: string): string | undefined {
  return isTemplate(path) ? undefined : /^(\/.+?)\/plugins\//.exec(path)?.[1];
}
