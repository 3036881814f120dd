import { resolve } from "node:path";
import { CONTAINER_DIRECTORY, nodeDirectory, ROOT_VARIABLE } from "../../../../flags/paths";
import { flagTable } from "../../../../flags/table";
import { isPattern } from "../../../../host-path/path-pattern";
import { KNOWN_DIRECTORIES } from "../../findings/registration-directory";
import type { Target } from "./facts";
import { isThereNone, statsOrErrno } from "./files";
import { reachBelow } from "./host-root";

const DEFAULT_CSI_ADDRESS = flagTable.dropIn["csi-address"].default;
const exists = async (path: string) => (await statsOrErrno(path)) !== "ENOENT";
/** Of one that cannot be read it is not known: then the look says why. */
async function mayBeDirectory(path: string) {
  const found = await statsOrErrno(path);
  return typeof found === "string" ? !isThereNone(found) : found.isDirectory();
}

type TargetFlag = "csiAddress" | "kubeletRegistrationPath" | "pluginRegistrationPath" | "hostRoot";

/**
 * What to look at. Without flags: the registrar's default driver socket, if it exists; the directory in the root that
 * KUBELET_ROOT_DIR names, that of a container, else that of a kubelet on this node, below `hostRoot` if given. On a node, as
 * for the registrar, the kubelet registration path is the driver's socket.
 */
export async function resolveTarget(
  flags: Readonly<Partial<Record<TargetFlag, string | undefined>>>,
  env: NodeJS.ProcessEnv,
  fileSystem: Readonly<Record<"exists" | "mayBeDirectory", typeof exists>> = { exists, mayBeDirectory },
): Promise<Target> {
  const { hostRoot } = flags;
  const isThere = hostRoot === undefined && (await fileSystem.exists(DEFAULT_CSI_ADDRESS));
  const csiAddress = flags.csiAddress ?? (isThere ? DEFAULT_CSI_ADDRESS : undefined);
  const csiSocketPath = onePath(csiAddress);
  const onHost = (path: string) => reachBelow(resolve(hostRoot ?? "/"), path);
  const [named = "", ...others] = await Promise.all([nodeDirectory(env), ...KNOWN_DIRECTORIES].map(onHost));
  const container = hostRoot === undefined ? [CONTAINER_DIRECTORY] : [];
  const known = env[ROOT_VARIABLE] ? [named, ...container, ...others] : [...container, named, ...others];
  const mayBeThere = await Promise.all(known.map(fileSystem.mayBeDirectory));
  const found = known.find((_, index) => mayBeThere[index]);
  const pluginRegistrationPath = resolve(flags.pluginRegistrationPath ?? found ?? named);
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
    isGuess: flags.pluginRegistrationPath === undefined && found === undefined,
    ...(hostRoot === undefined ? {} : { hostRoot: resolve(hostRoot) }),
  };
}

/** Why the host cannot be inspected; undefined if it can. */
export async function hostRootProblem({ hostRoot = "/" }: Pick<Target, "hostRoot">) {
  const found = await statsOrErrno(hostRoot);
  if (typeof found !== "string" && found.isDirectory()) return undefined;
  const isRead = typeof found !== "string" || isThereNone(found);
  const what = found === "ENOENT" ? "is not there" : "is not a directory";
  return `--host-root=${hostRoot} ${isRead ? what : `cannot be read: ${found}`}: cannot inspect the host`;
}

function onePath(path: string | undefined): string | undefined {
  return path === "" || (path !== undefined && isPattern(path)) ? undefined : path;
}
