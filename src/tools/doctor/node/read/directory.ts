import { constants } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { refuse, systemError } from "../../../../base/errors";
import { CONTAINER_DIRECTORY, nodeDirectory, ROOT_VARIABLE } from "../../../../flags/paths";
import { flagTable } from "../../../../flags/table";
import { isPattern } from "../../../../host-path/path-pattern";
import { isSameFile } from "../../../../unix/file-identity";
import { isWithin, type Mount, type MountPlace, mountPlaceOf } from "../../../../unix/mounts";
import { KNOWN_DIRECTORIES } from "../../findings/registration-directory";
import { type Reading, truth, type Unread, whyOf } from "../../findings/seen";
import { gapsIn, type NodePart, type Target, unreadAt } from "./facts";
import {
  errnoIn,
  errnoOfAccess,
  fileTypeOf,
  inodesOrErrno,
  isThereNone,
  reachBelow,
  reachOnHost,
  readNames,
  realPath,
  statsOrErrno,
} from "./files";
import { hiddenAt, lookAtSocket, type Ownership, type SocketFacts } from "./socket";

const DEFAULT_CSI_ADDRESS = flagTable.dropIn["csi-address"].default;
/** The errno, where it cannot be looked at. */
async function exists(path: string): Promise<boolean | string> {
  const found = await statsOrErrno(path);
  return typeof found !== "string" || (isThereNone(found) ? false : found);
}
/** Of one that cannot be read it is not known: then the look says why. */
async function mayBeDirectory(path: string): Promise<boolean> {
  const found = await statsOrErrno(path);
  return typeof found === "string" ? !isThereNone(found) : found.isDirectory();
}

type TargetFlag = "csiAddress" | "kubeletRegistrationPath" | "pluginRegistrationPath" | "hostRoot";
export type TargetFlags = Readonly<Partial<Record<TargetFlag, string | undefined>>>;

/**
 * What to look at. Without flags: the registrar's default driver socket, if it exists; the directory in the root that
 * KUBELET_ROOT_DIR names, that of a container, else that of a kubelet on this node, below `hostRoot` if given. On a node, as
 * for the registrar, the kubelet registration path is the driver's socket. Rejects where the host cannot be inspected.
 */
export async function resolveTarget(
  flags: TargetFlags,
  env: NodeJS.ProcessEnv,
  fileSystem = { exists, mayBeDirectory },
): Promise<Target> {
  const { hostRoot } = flags;
  const isByDefault = hostRoot === undefined && flags.csiAddress === undefined;
  const isThere = isByDefault && (await fileSystem.exists(DEFAULT_CSI_ADDRESS));
  const csiAddress = flags.csiAddress ?? (isThere === true ? DEFAULT_CSI_ADDRESS : undefined);
  const csiSocketPath = onePath(csiAddress);
  const container = hostRoot === undefined ? [CONTAINER_DIRECTORY] : [];
  const own = nodeDirectory(env);
  const first = env[ROOT_VARIABLE] ? [own, ...container] : [...container, own];
  const root = resolve(hostRoot ?? "/");
  await checkHostRoot(root);
  /** Another directory may be behind a link that cannot be read. */
  const refuseAt = (path: string) => (error: unknown) =>
    refuse(`${path} cannot be read: ${errnoIn(error)}: cannot inspect the host`);
  const reach = (path: string) => reachBelow(root, path).catch(refuseAt(join(root, path)));
  let found: string | undefined;
  let path = own;
  for (const one of flags.pluginRegistrationPath === undefined ? [...first, ...KNOWN_DIRECTORIES] : []) {
    found = await reach(one);
    path = one;
    if (await fileSystem.mayBeDirectory(found)) break;
    [found, path] = [undefined, own];
  }
  const named = flags.pluginRegistrationPath && resolve(flags.pluginRegistrationPath);
  const pluginRegistrationPath =
    (named && (await reachOnHost(root, named).catch(refuseAt(named)))) || (found ?? (await reach(own)));
  const kubeletRoot = await (named
    ? reachOnHost(root, dirname(named)).catch(refuseAt(named))
    : reach(dirname(path)));
  const isOnNode = flags.pluginRegistrationPath === undefined && found !== CONTAINER_DIRECTORY;
  const { kubeletRegistrationPath } = flags;
  const pattern = csiAddress !== undefined && isPattern(csiAddress) ? csiAddress : undefined;
  return {
    csiSocketPath,
    kubeletRegistrationPath: pattern
      ? kubeletRegistrationPath || undefined
      : (onePath(kubeletRegistrationPath) ?? (isOnNode ? pathOnHost(csiSocketPath, root) : undefined)),
    pluginRegistrationPath,
    pattern,
    ...(kubeletRoot === dirname(pluginRegistrationPath) ? {} : { kubeletRoot }),
    isGuess: flags.pluginRegistrationPath === undefined && found === undefined,
    ...(typeof isThere === "string" ? { unseen: unreadAt("sockets", DEFAULT_CSI_ADDRESS, isThere).gap } : {}),
    ...(hostRoot === undefined ? {} : { hostRoot: root }),
  };
}

/** Rejects with INVALID_OPTION where the host's root is not there, or cannot be read. */
async function checkHostRoot(hostRoot: string) {
  const found = await statsOrErrno(hostRoot);
  if (typeof found !== "string" && found.isDirectory()) return;
  const isRead = typeof found !== "string" || isThereNone(found);
  const what = found === "ENOENT" ? "is not there" : "is not a directory";
  refuse(`--host-root=${hostRoot} ${isRead ? what : `cannot be read: ${found}`}: cannot inspect the host`);
}

const pathOnHost = (path: string | undefined, root: string): string | undefined =>
  path !== undefined && isWithin(path, root) ? join("/", relative(root, path)) : undefined;

function onePath(path: string | undefined): string | undefined {
  return path === "" || (path !== undefined && isPattern(path)) ? undefined : path;
}

/** What is known of it alone where it was not looked into. */
type NoDirectory =
  | { readonly kind: "missing"; readonly path: string }
  | { readonly kind: "not-a-directory"; readonly path: string; readonly fileType: string };
export type DirectoryFacts = NoDirectory | Awaited<ReturnType<typeof lookInto>> | Unread<NodePart>;
export type Mounts = readonly Mount[] | Unread<NodePart>;

/** Looks at the plugin registration directory. It asks the system for the right to write, and writes nothing. */
export async function lookAtDirectory(
  path: string,
  mounts: Mounts,
  reading: Reading<NodePart>,
  { hostRoot = "/", kubeletRoot = dirname(path) }: Pick<Target, "hostRoot" | "kubeletRoot"> = {},
): Promise<DirectoryFacts> {
  try {
    const stats = await statsOrErrno(path);
    if (stats === "ENOENT") return { kind: "missing", path };
    if (typeof stats === "string") throw systemError(stats);
    if (!stats.isDirectory()) return { kind: "not-a-directory", path, fileType: fileTypeOf(stats) };
    const found = await lookInto(path, stats, mounts, hostRoot, kubeletRoot);
    // Whether kubelet runs is not known without it.
    gapsIn(found.kubeletSocket).map(reading.unread);
    const { unwritable } = found;
    const isUnread = unwritable !== undefined && unwritable !== "EROFS";
    if (isUnread) reading.unread(unreadAt("directory", `whether ${path} is read-only`, unwritable).gap);
    const { inodes } = found;
    if (typeof inodes === "string")
      reading.unread(unreadAt("directory", `whether ${path} has free inodes`, inodes).gap);
    return found;
  } catch (error) {
    return reading.unread({ part: "directory", subject: path, why: whyOf(error) });
  }
}

async function lookInto(
  path: string,
  ownership: Ownership,
  mounts: Mounts,
  hostRoot: string,
  kubeletRoot: string,
) {
  // Also of a directory that may be entered, and not be listed.
  await readNames(path);
  return {
    kind: "directory" as const,
    path,
    ownership,
    /** Errno of asking for the right to write; undefined: it is there. */
    unwritable: await errnoOfAccess(path, constants.W_OK | constants.X_OK),
    inodes: await inodesOrErrno(path),
    /** Its place in the mount table. */
    place: placeIn(mounts, await realPath(path)),
    // The socket has this place in the default root only (deviceplugin v1beta1, constants.go).
    kubeletSocket: await lookAtSocket(join(kubeletRoot, "device-plugins", "kubelet.sock"), {
      part: "directory",
      reach: (given) => reachOnHost(hostRoot, given),
    }),
  };
}

/**
 * Whether a symbolic link below `top` leads to the same file here as on the host: in a container only one that stays in its own
 * mount does.
 */
export function leadsAsOnHost(directory: DirectoryFacts, top: string, from: string, link: string): boolean {
  const to = resolve(dirname(from), link);
  if (!isAbsolute(link) && isWithin(to, top)) return true;
  return isInSight(directory, to);
}

/** Whether a path is seen as the host has it: a directory that is a mount of its own does not show what is beside it. */
function isInSight(directory: DirectoryFacts, at: string): boolean {
  if (directory.kind !== "directory") return false;
  const { path, place } = directory;
  const root = dirname(path);
  return !("gap" in place) && !place.isMountPoint && root !== "/" && isWithin(at, root);
}

/** Whether a directory in kubelet's root is the host's: in a container it may be missing, or have only what is mounted in it. */
export async function isHosts(directory: DirectoryFacts, mounts: Mounts, path: string, hostRoot: string) {
  if (directory.kind !== "directory") return false;
  if (hostRoot !== "/" || isInSight(directory, path)) return true;
  const real = await realPath(path).catch(() => undefined);
  return real !== undefined && !("gap" in mounts) && mountPlaceOf(real, mounts)?.mountPoint !== "/";
}

/** Without its directory, a mount that is not here may have the socket; the mounts say whether one is here. */
export function hiddenIn(directory: DirectoryFacts, socket: SocketFacts): SocketFacts {
  const { kind, path } = socket;
  if (kind !== "no-directory" || isInSight(directory, path)) return socket;
  const unread = directory.kind === "directory" ? directory.place : directory;
  return "gap" in unread
    ? { kind: "unread", path, gap: { ...unread.gap, part: "directory" } }
    : hiddenAt(path);
}

/**
 * What is on the host, where the same words were looked at here. A container has a file of its own there, or another directory of the
 * host, unless the mounts show that it is this one.
 */
export function ofHost(directory: DirectoryFacts, mounts: Mounts, socket: SocketFacts): SocketFacts {
  const { path } = socket;
  if ("gap" in mounts) return { kind: "unread", path, gap: { ...mounts.gap, part: "directory" } };
  const isMounted =
    directory.kind === "directory" && !("gap" in directory.place) && directory.place.isMountPoint;
  const isContainer = mountPlaceOf("/", mounts)?.fileSystem === "overlay";
  const place = mountPlaceOf(path, mounts);
  const isHosts =
    place?.mountPoint === "/" || place === undefined
      ? !isMounted
      : !isContainer || path.endsWith(place.path) || place.path.endsWith(path);
  return isHosts ? hiddenIn(directory, socket) : hiddenAt(path);
}

function placeIn(mounts: Mounts, path: string): MountPlace | Unread<NodePart> {
  if ("gap" in mounts) return mounts;
  return mountPlaceOf(path, mounts) ?? unreadAt("directory", path, "EIO");
}

/** Whether these directories of the host are there, other than `path`, to which some may be links. */
export async function otherDirectories(path: string, directories: readonly string[], hostRoot = "/") {
  const own = await statsOrErrno(path);
  const looked = directories.map(async (given) => {
    let place = join(hostRoot, given);
    try {
      place = await reachBelow(hostRoot, given);
      const stats = await statsOrErrno(place);
      if (typeof stats === "string" && !isThereNone(stats)) throw systemError(stats);
      const isOther = typeof stats !== "string" && (typeof own === "string" || !isSameFile(stats, own));
      return { path: place, isThere: truth(isOther && stats.isDirectory()) };
    } catch (error) {
      return { path: place, isThere: truth({ part: "directory", subject: place, why: whyOf(error) }) };
    }
  });
  return (await Promise.all(looked)).filter((other) => other.path !== path);
}
