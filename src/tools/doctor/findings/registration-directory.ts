import { join } from "node:path";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../../host-path/kubelet-roots";
import { isWithin } from "../../../unix/mounts";
import { isTemplate } from "../../recognise/rule";
import { type Verdict, warning } from "./finding";
import type { Text } from "./opened";

/** The directory in kubelet's root that its plugin watcher watches. */
const NAME = "plugins_registry";

/** What to do if the container has another directory in its place. */
export const MOUNT_IT = `mount the host's <kubelet root>/${NAME} there, or name it with --plugin-registration-path`;

export const isRegistrationDirectory = (path: string): boolean => path.endsWith(`/${NAME}`);

/** The registration directory that a path of the host is in or below: kubelet's watcher walks its subdirectories. */
export const registryOf = (path: string): string | undefined =>
  new RegExp(`^(.*/${NAME})(?:/.*)?$`, "s").exec(path)?.[1];

/** The registration directory in the kubelet root of which a path of the host tells. */
export function directoryFor(path: string): string | undefined {
  const root = kubeletRootOf(path) ?? rootIn(path);
  return root && join(root, NAME);
}

/** The kubelet root that a path is in, by its name: a known one, or one called `kubelet`. */
export function rootIn(path: string): string | undefined {
  if (isTemplate(path)) return undefined;
  const known = Object.values<string>(KUBELET_ROOTS).find((root) => isWithin(path, root));
  return known ?? /^(\/(?:.+\/)?kubelet)\/(?:plugins|plugins_registry|pods)(?:\/|$)/.exec(path)?.[1];
}

/** Warns about a driver's socket in the registration directory, by its path on the host. */
export function judgeDriverPlace(path: string, subject: Text, has: string): Verdict | undefined {
  if (!path.includes(`/${NAME}/`)) return undefined;
  return warning(
    subject,
    `${has} in kubelet's registration directory: kubelet takes it for a registration socket, and its calls fail`,
    "move the driver's socket to <kubelet root>/plugins/NAME/",
  );
}

/** The registration directories of distributions' kubelets, the default one first. */
export const KNOWN_DIRECTORIES: readonly string[] = [
  ...new Set([DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS)]),
].map((root) => join(root, NAME));

/** Kubelet's root, by a path below its `plugins`; undefined for a path elsewhere, and for a template. */
function kubeletRootOf(path: string): string | undefined {
  return isTemplate(path) ? undefined : /^(\/.+?)\/plugins\//.exec(path)?.[1];
}
