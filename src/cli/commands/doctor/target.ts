import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Target } from "../../../doctor/node/facts";
import { KNOWN_DIRECTORIES } from "../../../doctor/rules/registration-directory";
import { CONTAINER_DIRECTORY } from "../../../flags/paths";
import { flagTable } from "../../../flags/table";
import { isPattern } from "../../../host-path/path-pattern";
import { isFolder } from "../../../unix/files";

const DEFAULT_CSI_ADDRESS = flagTable.dropIn["csi-address"].default;
const NODE_FILES = { exists: existsSync, isDirectory: isFolder };

type TargetFlag = "csiAddress" | "kubeletRegistrationPath" | "pluginRegistrationPath" | "hostRoot";

/**
 * What to look at. Without flags: the registrar's default driver socket, if it exists; the directory of a container, else
 * of a kubelet on this node, `onNode` before others, below `hostRoot` if given. On a node, as for the registrar, the
 * kubelet registration path is the driver's socket.
 */
export function resolveTarget(
  flags: Readonly<Partial<Record<TargetFlag, string | undefined>>>,
  onNode: string,
  fileSystem: { exists(path: string): boolean; isDirectory(path: string): boolean } = NODE_FILES,
): Target {
  const { hostRoot } = flags;
  const isThere = hostRoot === undefined && fileSystem.exists(DEFAULT_CSI_ADDRESS);
  const csiAddress = flags.csiAddress ?? (isThere ? DEFAULT_CSI_ADDRESS : undefined);
  const csiSocketPath = onePath(csiAddress);
  const onHost = [onNode, ...KNOWN_DIRECTORIES].map((path) => join(hostRoot ?? "/", path));
  const found = (hostRoot === undefined ? [CONTAINER_DIRECTORY, ...onHost] : onHost).find(
    fileSystem.isDirectory,
  );
  const pluginRegistrationPath = resolve(flags.pluginRegistrationPath ?? found ?? onHost[0] ?? onNode);
  const isOnNode = flags.pluginRegistrationPath === undefined && found !== CONTAINER_DIRECTORY;
  const { kubeletRegistrationPath } = flags;
  const pattern = csiAddress !== undefined && isPattern(csiAddress) ? csiAddress : undefined;
  return {
    csiSocketPath,
    kubeletRegistrationPath: pattern
      ? kubeletRegistrationPath || undefined
      : (onePath(kubeletRegistrationPath) ?? (isOnNode ? csiSocketPath : undefined)),
    pluginRegistrationPath,
    pattern,
    ...(hostRoot === undefined ? {} : { hostRoot: resolve(hostRoot) }),
  };
}

/** Why nothing of the host can be looked at; undefined if it can. */
export function hostRootProblem({ hostRoot = "/" }: Pick<Target, "hostRoot">): string | undefined {
  if (isFolder(hostRoot)) return undefined;
  return `--host-root=${hostRoot} ${existsSync(hostRoot) ? "is not a folder" : "is not there"}: nothing of the host can be looked at`;
}

function onePath(path: string | undefined): string | undefined {
  return path === "" || (path !== undefined && isPattern(path)) ? undefined : path;
}
