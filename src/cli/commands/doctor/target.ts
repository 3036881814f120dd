import { join, resolve } from "node:path";
import type { Target } from "../../../doctor/node/facts";
import { KNOWN_DIRECTORIES } from "../../../doctor/rules/registration-directory";
import { isPattern } from "../../../host-path/path-pattern";
import { CONTAINER_DIRECTORY } from "../../paths";

/** Where a registrar looks for the driver unless told otherwise. */
const DEFAULT_CSI_ADDRESS = "/run/csi/socket";

export interface TargetFlags {
  readonly csiAddress?: string | undefined;
  readonly kubeletRegistrationPath?: string | undefined;
  readonly pluginRegistrationPath?: string | undefined;
  readonly hostRoot?: string | undefined;
}

/**
 * What to look at where the flags leave it open: the driver socket that registrars take by default, if there is one;
 * the directory in a container, else that of a kubelet on this node, `onNode` before others; with a host root, that of
 * the host below it. As for the registrar itself, on a node the driver's socket and the path that kubelet is told are
 * the same.
 */
export function resolveTarget(
  flags: TargetFlags,
  onNode: string,
  fileSystem: { exists(path: string): boolean; isDirectory(path: string): boolean },
): Target {
  const { hostRoot } = flags;
  const isThere = hostRoot === undefined && fileSystem.exists(DEFAULT_CSI_ADDRESS);
  const csiAddress = flags.csiAddress ?? (isThere ? DEFAULT_CSI_ADDRESS : undefined);
  const csiSocketPath = onePath(csiAddress);
  const onHost = [onNode, ...KNOWN_DIRECTORIES].map((path) => join(hostRoot ?? "/", path));
  const found = (hostRoot === undefined ? [CONTAINER_DIRECTORY, ...onHost] : onHost).find(
    fileSystem.isDirectory,
  );
  const fallback = join(hostRoot ?? "/", onNode);
  const pluginRegistrationPath = resolve(flags.pluginRegistrationPath ?? found ?? fallback);
  const isOnNode = flags.pluginRegistrationPath === undefined && found !== CONTAINER_DIRECTORY;
  const told = flags.kubeletRegistrationPath;
  const pattern = csiAddress !== undefined && isPattern(csiAddress) ? csiAddress : undefined;
  return {
    csiSocketPath,
    kubeletRegistrationPath: pattern
      ? told || undefined
      : (onePath(told) ?? (isOnNode ? csiSocketPath : undefined)),
    pluginRegistrationPath,
    ...(pattern === undefined ? {} : { patterns: [pattern] }),
    ...(hostRoot === undefined ? {} : { hostRoot: resolve(hostRoot) }),
  };
}

/** A pattern names no single driver; an empty path names none. */
function onePath(path: string | undefined): string | undefined {
  return path === "" || (path !== undefined && isPattern(path)) ? undefined : path;
}
