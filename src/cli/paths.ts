import { join } from "node:path";
import { DEFAULT_KUBELET_ROOT } from "../host-path/kubelet-roots";
import { parseCsiAddress } from "../unix/csi-address";

/** Where DaemonSets mount the plugin registration directory in the registrar's container. */
export const CONTAINER_DIRECTORY = "/registration";
const ROOT_VARIABLE = "KUBELET_ROOT_DIR";

/** Kubelet's own plugin registration directory on a node: in KUBELET_ROOT_DIR if that is set. */
export function nodeDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return join(env[ROOT_VARIABLE] || DEFAULT_KUBELET_ROOT, "plugins_registry");
}

export interface PathFlags {
  readonly csiAddress: string;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
  readonly given: ReadonlySet<string>;
}

/** The paths to work with, or the line that says what is missing. */
export type PathResolution =
  | {
      readonly kind: "paths";
      readonly kubeletRegistrationPath: string;
      readonly pluginRegistrationPath: string;
      /** What was filled in because this is not a DaemonSet's container: flag and value. */
      readonly assumed: readonly { readonly flag: string; readonly value: string }[];
    }
  | { readonly kind: "missing"; readonly message: string };

/**
 * Decides where the registration socket goes and which path kubelet gets. In a container (/registration exists, or the
 * directory is given) these are the official registrar's rules, with the required flag. On a node or a developer's
 * machine, where neither is so, the defaults are kubelet's own directory and the CSI address.
 */
export function resolvePaths(
  flags: PathFlags,
  onNode: string,
  isDirectory: (path: string) => boolean,
): PathResolution {
  const { kubeletRegistrationPath, pluginRegistrationPath, given } = flags;
  if (given.has("plugin-registration-path") || isDirectory(CONTAINER_DIRECTORY)) {
    if (kubeletRegistrationPath === "")
      return { kind: "missing", message: "kubelet-registration-path is a required parameter" };
    return { kind: "paths", kubeletRegistrationPath, pluginRegistrationPath, assumed: [] };
  }
  if (!isDirectory(onNode)) {
    const message =
      `neither ${CONTAINER_DIRECTORY} (in a container) nor ${onNode} (on a node) is a folder: ` +
      `name kubelet's plugin registration directory with --plugin-registration-path, or its root with ${ROOT_VARIABLE}, ` +
      "or simulate a kubelet with: registrar kubelet --plugin-registration-path DIR";
    return { kind: "missing", message };
  }
  const told = kubeletRegistrationPath || parseCsiAddress(flags.csiAddress);
  const assumed = [
    { flag: "plugin-registration-path", value: onNode },
    { flag: "kubelet-registration-path", value: told },
  ];
  return {
    kind: "paths",
    kubeletRegistrationPath: told,
    pluginRegistrationPath: onNode,
    assumed: kubeletRegistrationPath === "" ? assumed : assumed.slice(0, 1),
  };
}
