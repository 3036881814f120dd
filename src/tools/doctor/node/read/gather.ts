import { constants, type Dirent, readFileSync, watch } from "node:fs";
import { access, realpath, statfs } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { attempt } from "../../../../base/errors";
import { type HostPathVerdict, judgeByMounts } from "../../../../host-path/host-path";
import { SOCKET_TAIL } from "../../../../registrar/model/socket-name";
import { socketsFitting } from "../../../../registrar/node-wide/scan";
import { callFileSystem } from "../../../../unix/file-calls";
import { isDirectory } from "../../../../unix/files";
import { mountPlaceOf, readMounts } from "../../../../unix/mounts";
import { isHiddenSocket } from "../../../../unix/socket-file";
import { tryConnect } from "../../../../unix/unix-socket";
import { isRegistrationDirectory, KNOWN_DIRECTORIES } from "../../findings/registration-directory";
import { askDriver, askIdentity, askRegistration } from "./calls";
import { answerIn, hasNoSocket, isDead, isStuck, type Ownership, type Target } from "./facts";
import { errnoIn, fileTypeOf, statsOrErrno, walk } from "./files";
import { findRegistrars } from "./processes";
import { lookAtSocket } from "./socket";

export interface GatherOptions {
  /** Bounds each call, in milliseconds; NodeGetInfo takes up to ten times as long. */
  readonly timeoutMs: number;
  /** The doctor's own user ID; undefined on a system without user IDs. */
  readonly uid: number | undefined;
  /** Registration directories of other kubelets. Default `KNOWN_DIRECTORIES`. */
  readonly knownDirectories?: readonly string[];
}

const PROC = "/proc";
const SYS = "/sys";
/** Drivers have their socket in a directory of their own, some a directory deeper. */
const MAX_DEPTH = 4;
/** More than a node has drivers. */
const MAX_SOCKETS = 500;
/** More calls at once would run into their deadlines under a low CPU limit. */
const AT_ONCE = 16;

export type Facts = Awaited<ReturnType<typeof gatherFacts>>;
export type DirectoryFacts = Facts["directory"];
export type RegistrationFacts = Facts["registrations"][number];
export type RunningRegistrar = Facts["registrars"][number];

/**
 * Sees what there is to see, and changes nothing: it makes no file, and registrars of this project do not take its calls
 * for kubelet's. What it cannot see is a fact too: it never rejects.
 */
export async function gatherFacts(target: Target, options: GatherOptions) {
  const { timeoutMs, uid, knownDirectories = KNOWN_DIRECTORIES } = options;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = target;
  const ask = (socket: Parameters<typeof askDriver>[0]) => askDriver(socket, timeoutMs);
  const listed = await listRegistrations(pluginRegistrationPath);
  const lookAt = (paths: readonly string[]) =>
    inGroups(paths, (path) => lookAtRegistration(path, timeoutMs, hostRoot)).then((found) =>
      // One hidden from kubelet tells only by its answer.
      found.filter(({ socket, report }) => report !== undefined || !isHiddenSocket(basename(socket.path))),
    );
  const known = knownDirectories.map((path) => join(hostRoot, path));
  const [driver, kubeletPath, directory, firstSeen] = await Promise.all([
    csiSocketPath === undefined ? undefined : lookAtSocket(csiSocketPath).then(ask),
    kubeletRegistrationPath?.startsWith("/")
      ? lookAtSocket(join(hostRoot, kubeletRegistrationPath))
      : undefined,
    lookAtDirectory(pluginRegistrationPath, PROC),
    lookAt(listed.paths),
  ]);
  // A registrar that kubelet refuses publishes again under another name.
  const { paths: laterPaths } = await listRegistrations(pluginRegistrationPath);
  const isMoved = laterPaths.join("\0") !== listed.paths.join("\0");
  const registrations = isMoved ? await lookAt(laterPaths) : firstSeen;
  const fitting = new Set(target.pattern === undefined ? [] : await socketsFitting(target.pattern));
  const below = await socketsUnder(join(dirname(pluginRegistrationPath), "plugins"));
  const paths = new Set([...below.paths.slice(0, MAX_SOCKETS), ...fitting]);
  const sockets = await Promise.all([...paths].map((path) => lookAtSocket(path)));
  const living = sockets.filter((one) => one.kind === "accepting" || isStuck(one));
  const others = new Map(living.map((one) => [one.inode, one]));
  others.delete(driver?.socket.inode);
  const isLivingBeside = (path: string) => living.some((other) => dirname(other.path) === dirname(path));
  // The mounts of this namespace say nothing about the host's own root below `hostRoot`.
  const isSeen = hostRoot === "/" && !(driver && hasNoSocket(driver.socket));
  const driverPaths = { csiSocketPath: csiSocketPath ?? target.pattern, pluginRegistrationPath };
  const hostPath: HostPathVerdict =
    isSeen && kubeletRegistrationPath !== undefined
      ? await judgeByMounts({ ...driverPaths, kubeletRegistrationPath })
      : { kind: "unknown" };
  return {
    target,
    driver,
    /** The kubelet registration path, judged by the mounts; unknown without a socket to judge it by. */
    hostPath,
    /** The other living drivers: under kubelet's `plugins`, or fitting a pattern. Their listen queue may be full. */
    found: await inGroups([...others.values()], ask),
    /** Those on which no process listens, without a living one beside them; all of them that fit the pattern. */
    deadSockets: sockets
      .filter(isDead)
      .map((socket) => ({ socket, fits: fitting.has(socket.path) }))
      .filter(({ socket, fits }) => fits || !isLivingBeside(socket.path)),
    /** The paths of the sockets below kubelet's root as the host has them, by inode. */
    socketsOnHost: isRegistrationDirectory(pluginRegistrationPath)
      ? new Map(sockets.map(({ inode = "", path }) => [inode, join("/", relative(hostRoot, path))]))
      : new Map<string, string>(),
    kubeletPath,
    directory,
    registrations,
    registrars: await findRegistrars(pluginRegistrationPath, PROC),
    leftOut: [...listed.leftOut, ...below.leftOut],
    host: {
      uid,
      selinux: lookAtSelinux(PROC, SYS),
      otherDirectories: await otherDirectories(pluginRegistrationPath, known),
    },
  };
}

async function inGroups<One, Result>(items: readonly One[], look: (item: One) => Promise<Result>) {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(look))));
  return results;
}

/** The sockets below kubelet's `plugins`, except in kubelet's own directories there, which hold mounted volumes. */
function socketsUnder(directory: string) {
  const isKubelets = ({ name }: Dirent) => name === "kubernetes.io" || name === "globalmount";
  return walk(
    directory,
    (entry) => entry.isSocket(),
    (entry) => !isKubelets(entry),
    MAX_DEPTH,
  );
}

/** Looks at the plugin registration directory. It asks the system for the right and the room to write, and writes nothing. */
export async function lookAtDirectory(path: string, procfs: string) {
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path } as const;
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats } as const;
  if (!stats.isDirectory()) return { kind: "not-a-directory", path, fileType: fileTypeOf(stats) } as const;
  const { errno } = await listRegistrations(path);
  if (errno !== undefined) return { kind: "out-of-reach", path, errno } as const;
  const rights = constants.W_OK | constants.X_OK;
  const real = await callFileSystem(path, () => realpath(path)).catch(() => path);
  return {
    kind: "directory" as const,
    path,
    ownership: stats as Ownership,
    /** Errno of asking for the right to write, ENOSPC without a free inode; undefined if a file could be made. */
    unwritable:
      (await callFileSystem(path, () => access(path, rights)).catch(errnoIn)) ?? (await fullIn(path)),
    /** Errno of watching it with inotify; undefined if it can be watched. */
    unwatchable: watchProblem(path),
    /** Its place in the mount table; undefined if that cannot be read. */
    place: mountPlaceOf(real, readMounts(procfs) ?? []),
    // Kubelet's root is one up. The socket has this place in the default root only (deviceplugin v1beta1, constants.go).
    kubeletSocket: await lookAtSocket(join(dirname(path), "device-plugins", "kubelet.sock")),
  };
}

/** Some file systems count no inodes: they have 0 of 0 left. */
async function fullIn(path: string): Promise<string | undefined> {
  const { files = 0, ffree } = (await callFileSystem(path, () => statfs(path)).catch(() => undefined)) ?? {};
  return files > 0 && ffree === 0 ? "ENOSPC" : undefined;
}

function watchProblem(path: string): string | undefined {
  try {
    watch(path).close();
    return undefined;
  } catch (error) {
    return errnoIn(error);
  }
}

export async function otherDirectories(path: string, directories: readonly string[]) {
  const isThere = await Promise.all(directories.map(isDirectory));
  return directories.filter((directory, index) => directory !== path && isThere[index]);
}

/** Reads what SELinux shows without its tools; a kernel with SELinux switched off does not list its file system. */
export function lookAtSelinux(procfs: string, sysfs: string) {
  const fileSystems = readText(join(procfs, "filesystems"));
  if (fileSystems === undefined) return { kind: "unknown" } as const;
  if (!/\bselinuxfs$/m.test(fileSystems)) return { kind: "off" } as const;
  const enforce = readText(join(sysfs, "fs", "selinux", "enforce"))?.trim();
  const modes: Readonly<Record<string, "enforcing" | "permissive">> = { "1": "enforcing", "0": "permissive" };
  const label = readText(join(procfs, "self", "attr", "current"))
    ?.replace(/\0.*$/s, "")
    .trim();
  // The mode is not seen in most containers.
  return { kind: "on", mode: modes[enforce ?? ""], label: label || undefined } as const;
}

const readText = (path: string) => attempt(() => readFileSync(path, "utf8"));

/** Lists sockets and what is named like one, as kubelet's plugin watcher does, also in subdirectories; and those hidden from it. */
async function listRegistrations(directory: string) {
  const isHidden = ({ name }: Dirent) => name.startsWith(".");
  const isWanted = (entry: Dirent) =>
    isHiddenSocket(entry.name) ||
    (!isHidden(entry) && (entry.isSocket() || entry.name.endsWith(SOCKET_TAIL)));
  const { paths, ...rest } = await walk(directory, isWanted, (entry) => !isHidden(entry));
  return { ...rest, paths: paths.sort() };
}

/** Looks at a registration socket and at the endpoint of its CSI driver, a path of the host below `hostRoot`. */
async function lookAtRegistration(path: string, timeoutMs: number, hostRoot: string) {
  let answer: Awaited<ReturnType<typeof askRegistration>> | undefined;
  const socket = await lookAtSocket(path, async () => {
    // The registrar would take a connection that ends without a call for kubelet's.
    answer = await askRegistration(path, timeoutMs);
    return answer.info.kind === "answered" ? undefined : tryConnect(path);
  });
  const plugin = answerIn(answer?.info);
  const told = plugin?.type === "CSIPlugin" ? plugin.endpoint : undefined;
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const place = told === "" ? path : told?.startsWith("/") ? join(hostRoot, told) : undefined;
  const there = place === undefined ? undefined : await lookAtSocket(place);
  return {
    socket,
    info: answer?.info,
    /** Undefined for other registrars, such as the official one. */
    report: answer?.report,
    /** What is at a CSI driver's endpoint; undefined without an absolute endpoint. */
    endpoint: there && { socket: there, identity: await askIdentity(there, timeoutMs) },
  };
}
