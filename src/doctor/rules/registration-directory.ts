import { join } from "node:path";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../host-path/kubelet-roots";
import type { Place } from "../../host-path/mounts";
import { type Verdict, warning } from "../findings/finding";
import { isTemplate } from "./objects";

/** The folder in kubelet's root that its plugin watcher looks at. */
const NAME = "plugins_registry";

/** What to do where another folder has its place in the container. */
export const MOUNT_IT = `mount the host's <kubelet root>/${NAME} there, or name it with --plugin-registration-path`;

/** Whether a path of the host is such a directory, by its name. */
export function isRegistrationDirectory(path: string): boolean {
  return path.endsWith(`/${NAME}`);
}

/** That of the kubelet in whose root one of these paths of a driver's socket is, else the default one. */
export function directoryFor(...driverPaths: readonly string[]): string {
  const [root = DEFAULT_KUBELET_ROOT] = driverPaths.flatMap((path) => kubeletRootOf(path) ?? []);
  return join(root, NAME);
}

/** Judges a driver's socket by its path on the host, of which `subject` is told: one in there is not called as a driver. */
export function judgeDriverPlace(path: string, subject: string, has: string): Verdict | undefined {
  if (!path.includes(`/${NAME}/`)) return undefined;
  return warning(
    subject,
    `${has} in kubelet's registration directory: kubelet takes the driver for a plugin and calls it in vain`,
    "move the driver's socket to <kubelet root>/plugins/NAME/",
  );
}

/** Plugin registration directories of kubelets as distributions set them up, the default one first. */
export const KNOWN_DIRECTORIES: readonly string[] = [
  ...new Set([DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS)]),
].map((root) => join(root, NAME));

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
  if (root !== undefined) return join(root, NAME);
  const [longest] = KNOWN_DIRECTORIES.filter((known) => place.path.endsWith(known)).sort(
    (one, other) => other.length - one.length,
  );
  return longest ?? KNOWN_DIRECTORIES.find((known) => known.endsWith(place.path)) ?? place.path;
}

/** Kubelet's root, by a path below its `plugins`; undefined for a path elsewhere, and for one that is to be filled in. */
function kubeletRootOf(path: string): string | undefined {
  return isTemplate(path) ? undefined : /^(\/.+?)\/plugins\//.exec(path)?.[1];
}
