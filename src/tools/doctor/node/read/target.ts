import { join, resolve } from "node:path";
import { invalidOption } from "../../../../base/errors";
import { CONTAINER_DIRECTORY, nodeDirectory, ROOT_VARIABLE } from "../../../../flags/paths";
import { flagTable } from "../../../../flags/table";
import { isPattern } from "../../../../host-path/path-pattern";
import { KNOWN_DIRECTORIES } from "../../findings/registration-directory";
import type { Target } from "./facts";
import { errnoIn, isThereNone, reachBelow, statsOrErrno } from "./files";

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
  const container = hostRoot === undefined ? [CONTAINER_DIRECTORY] : [];
  const own = nodeDirectory(env);
  const known = env[ROOT_VARIABLE]
    ? [own, ...container, ...KNOWN_DIRECTORIES]
    : [...container, own, ...KNOWN_DIRECTORIES];
  const reach = (path: string) => reachOnHost(resolve(hostRoot ?? "/"), path);
  let found: string | undefined;
  for (const path of flags.pluginRegistrationPath === undefined ? known : []) {
    found = await reach(path);
    if (await fileSystem.mayBeDirectory(found)) break;
    found = undefined;
  }
  const pluginRegistrationPath = resolve(flags.pluginRegistrationPath ?? found ?? (await reach(own)));
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

/** Throws INVALID_OPTION where a link on the way cannot be read: another directory may be behind it. */
const reachOnHost = (root: string, path: string) =>
  reachBelow(root, path).catch((error: unknown) => {
    throw invalidOption(`${join(root, path)} cannot be read: ${errnoIn(error)}: cannot inspect the host`);
  });

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
