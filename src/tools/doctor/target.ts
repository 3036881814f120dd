import { join, resolve } from "node:path";
import { CONTAINER_DIRECTORY } from "../../flags/paths";
import { flagTable } from "../../flags/table";
import { isPattern } from "../../host-path/path-pattern";
import { isDirectory } from "../../unix/files";
import { KNOWN_DIRECTORIES } from "./findings/registration-directory";
import type { Target } from "./node/read/facts";
import { statsOrErrno } from "./node/read/files";

const DEFAULT_CSI_ADDRESS = flagTable.dropIn["csi-address"].default;
const exists = async (path: string) => (await statsOrErrno(path)) !== "ENOENT";

type TargetFlag = "csiAddress" | "kubeletRegistrationPath" | "pluginRegistrationPath" | "hostRoot";

/**
 * What to look at. Without flags: the registrar's default driver socket, if it exists; the directory of a container, else
 * of a kubelet on this node, `onNode` before others, below `hostRoot` if given. On a node, as for the registrar, the
 * kubelet registration path is the driver's socket.
 */
export async function resolveTarget(
  flags: Readonly<Partial<Record<TargetFlag, string | undefined>>>,
  onNode: string,
  fileSystem: {
    exists(path: string): Promise<boolean>;
    isDirectory(path: string): Promise<boolean>;
  } = { exists, isDirectory },
): Promise<Target> {
  const { hostRoot } = flags;
  const isThere = hostRoot === undefined && (await fileSystem.exists(DEFAULT_CSI_ADDRESS));
  const csiAddress = flags.csiAddress ?? (isThere ? DEFAULT_CSI_ADDRESS : undefined);
  const csiSocketPath = onePath(csiAddress);
  const onHost = [onNode, ...KNOWN_DIRECTORIES].map((path) => join(hostRoot ?? "/", path));
  const known = hostRoot === undefined ? [CONTAINER_DIRECTORY, ...onHost] : onHost;
  const areThere = await Promise.all(known.map(fileSystem.isDirectory));
  const found = known.find((_, index) => areThere[index]);
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
export async function hostRootProblem({ hostRoot = "/" }: Pick<Target, "hostRoot">) {
  if (await isDirectory(hostRoot)) return undefined;
  return `--host-root=${hostRoot} ${(await exists(hostRoot)) ? "is not a directory" : "is not there"}: nothing of the host can be looked at`;
}

function onePath(path: string | undefined): string | undefined {
  return path === "" || (path !== undefined && isPattern(path)) ? undefined : path;
}
