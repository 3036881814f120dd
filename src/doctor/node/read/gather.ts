import { constants, type Dirent, readFileSync, watch } from "node:fs";
import { access, realpath, statfs } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { attempt } from "../../../base/errors";
import type { ListPodsResponse } from "../../../grpc/protos";
import { judgeByMounts } from "../../../host-path/advice";
import type { HostPathVerdict } from "../../../host-path/host-path";
import { socketsFitting } from "../../../registrar/node-wide/discovery";
import { SOCKET_TAIL } from "../../../registrar/socket/socket-name";
import { callFileSystem } from "../../../unix/file-calls";
import { mountPlaceOf, readMounts } from "../../../unix/mounts";
import { tryConnect } from "../../../unix/unix-socket";
import { grouped } from "../../findings/grouped";
import { isRegistrationDirectory, KNOWN_DIRECTORIES } from "../../rules/registration-directory";
import { askDriver, askIdentity, askPods, askRegistration } from "./calls";
import {
  type Answer,
  type DirectoryFacts,
  type Facts,
  hasNoSocket,
  isDead,
  isStuck,
  type RegistrationFacts,
  type SelinuxFacts,
  type SocketFacts,
  type Target,
  type UnstartedPod,
} from "./facts";
import type { NodeReadinessFacts, NodeReadinessTarget } from "./node-readiness";
import { findRegistrars } from "./processes";
import { errnoIn, fileTypeOf, isDirectory, lookAtSocket, ownershipOf, statsOrErrno, walk } from "./socket";

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
/** Drivers have their socket in a folder of their own, some a folder deeper. */
const MAX_DEPTH = 4;
/** More than a node has drivers. */
const MAX_SOCKETS = 500;

/**
 * Sees what there is to see, and changes nothing: it makes no file, and registrars of this project do not take its calls
 * for kubelet's. What it cannot see is a fact too: it never rejects.
 */
export async function gatherFacts(target: Target, options: GatherOptions): Promise<Facts> {
  const { timeoutMs, uid, knownDirectories = KNOWN_DIRECTORIES } = options;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = target;
  const ask = (socket: SocketFacts) => askDriver(socket, timeoutMs);
  const listed = await listRegistrations(pluginRegistrationPath);
  const known = knownDirectories.map((path) => join(hostRoot, path));
  const [driver, kubeletPath, directory, registrations, nodeReadiness, pods] = await Promise.all([
    csiSocketPath === undefined ? undefined : lookAtSocket(csiSocketPath).then(ask),
    kubeletRegistrationPath?.startsWith("/")
      ? lookAtSocket(join(hostRoot, kubeletRegistrationPath))
      : undefined,
    lookAtDirectory(pluginRegistrationPath, PROC),
    Promise.all(listed.paths.map((path) => lookAtRegistration(path, timeoutMs, hostRoot))),
    target.nodeReadiness && askApiServer(target.nodeReadiness),
    lookAtPods(pluginRegistrationPath, timeoutMs),
  ]);
  const fitting = new Set(target.pattern === undefined ? [] : await socketsFitting(target.pattern));
  const below = await socketsUnder(join(dirname(pluginRegistrationPath), "plugins"));
  const paths = new Set([...below.paths.slice(0, MAX_SOCKETS), ...fitting]);
  const sockets = await Promise.all([...paths].map((path) => lookAtSocket(path)));
  return {
    target,
    driver,
    hostPath: driver && hasNoSocket(driver.socket) ? undefined : await hostPathVerdict(target),
    found: await Promise.all(livingBeside(driver?.socket, sockets).map(ask)),
    deadSockets: sockets.filter((socket) => fitting.has(socket.path) && isDead(socket)),
    socketsOnHost: isRegistrationDirectory(pluginRegistrationPath)
      ? new Map(sockets.map(({ inode = "", path }) => [inode, join("/", relative(hostRoot, path))]))
      : new Map(),
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
    nodeReadiness,
    pods,
  };
}

/** Loads the client of the API server, which most calls of the doctor do not need. */
async function askApiServer(target: NodeReadinessTarget): Promise<NodeReadinessFacts> {
  const { lookAtNodeReadiness } = await import("./node-readiness");
  return lookAtNodeReadiness(target);
}

/** The living sockets, each once, except `named`. Dead and unreadable ones may be of a driver that is gone for good. */
function livingBeside(
  named: SocketFacts | undefined,
  sockets: readonly SocketFacts[],
): readonly SocketFacts[] {
  const seen = new Set([named?.inode]);
  return sockets.filter((socket) => {
    const isLiving = socket.kind === "accepting" || isStuck(socket);
    if (!isLiving || seen.has(socket.inode)) return false;
    seen.add(socket.inode);
    return true;
  });
}

/** The sockets below kubelet's `plugins`, except in kubelet's own folders there, which hold mounted volumes. */
function socketsUnder(directory: string) {
  const isKubelets = ({ name }: Dirent) => name === "kubernetes.io" || name === "globalmount";
  return walk(
    directory,
    (entry) => entry.isSocket(),
    (entry) => !isKubelets(entry),
    MAX_DEPTH,
  );
}

async function hostPathVerdict(target: Target): Promise<HostPathVerdict | undefined> {
  const { csiSocketPath = target.pattern, kubeletRegistrationPath, pluginRegistrationPath } = target;
  // The mounts of this namespace say nothing about the host's own root below `hostRoot`.
  const isBelow = target.hostRoot !== undefined && target.hostRoot !== "/";
  if (kubeletRegistrationPath === undefined || isBelow) return undefined;
  return judgeByMounts({ csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }, readMounts(PROC));
}

/** Looks at the plugin registration directory. It asks the system for the right and the room to write, and writes nothing. */
export async function lookAtDirectory(path: string, procfs: string): Promise<DirectoryFacts> {
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT") return { kind: "missing", path };
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats };
  if (!stats.isDirectory()) return { kind: "not-a-folder", path, fileType: fileTypeOf(stats) };
  const rights = constants.W_OK | constants.X_OK;
  const real = await callFileSystem(path, () => realpath(path)).catch(() => path);
  return {
    kind: "folder",
    path,
    ownership: ownershipOf(stats),
    unlistable: (await listRegistrations(path)).errno,
    unwritable:
      (await callFileSystem(path, () => access(path, rights)).catch(errnoIn)) ?? (await fullIn(path)),
    unwatchable: watchProblem(path),
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

/** Those of `directories` that exist, except `path`. */
export async function otherDirectories(
  path: string,
  directories: readonly string[],
): Promise<readonly string[]> {
  const isThere = await Promise.all(directories.map(isDirectory));
  return directories.filter((directory, index) => directory !== path && isThere[index]);
}

/** Reads what SELinux shows without its tools; a kernel with SELinux switched off does not list its file system. */
export function lookAtSelinux(procfs: string, sysfs: string): SelinuxFacts {
  const fileSystems = readText(join(procfs, "filesystems"));
  if (fileSystems === undefined) return { kind: "unknown" };
  if (!/\bselinuxfs$/m.test(fileSystems)) return { kind: "off" };
  const enforce = readText(join(sysfs, "fs", "selinux", "enforce"))?.trim();
  const modes: Readonly<Record<string, "enforcing" | "permissive">> = { "1": "enforcing", "0": "permissive" };
  const label = readText(join(procfs, "self", "attr", "current"))
    ?.replace(/\0.*$/s, "")
    .trim();
  return { kind: "on", mode: modes[enforce ?? ""], label: label === "" ? undefined : label };
}

const readText = (path: string) => attempt(() => readFileSync(path, "utf8"));

/** Lists sockets and what is named like one, as kubelet's plugin watcher does: also in subfolders, no hidden names. */
export async function listRegistrations(directory: string) {
  const isHidden = ({ name }: Dirent) => name.startsWith(".");
  const isWanted = (entry: Dirent) =>
    !isHidden(entry) && (entry.isSocket() || entry.name.endsWith(SOCKET_TAIL));
  const { paths, ...rest } = await walk(directory, isWanted, (entry) => !isHidden(entry));
  return { ...rest, paths: paths.sort() };
}

/** Looks at a registration socket and at the endpoint of its CSI driver, a path of the host below `hostRoot`. */
export async function lookAtRegistration(
  path: string,
  timeoutMs: number,
  hostRoot: string,
): Promise<RegistrationFacts> {
  const notAsked = { info: { kind: "not-asked" }, report: undefined, endpoint: undefined } as const;
  let answer: Omit<RegistrationFacts, "socket"> = notAsked;
  const socket = await lookAtSocket(path, async () => {
    // The registrar would take a connection that ends without a call for kubelet's.
    answer = { ...notAsked, ...(await askRegistration(path, timeoutMs)) };
    return answer.info.kind === "answered" ? undefined : tryConnect(path);
  });
  if (socket.kind !== "accepting") return { socket, ...notAsked };
  const { info } = answer;
  if (info.kind !== "answered" || info.value.type !== "CSIPlugin") return { socket, ...answer };
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const told = info.value.endpoint === "" ? path : info.value.endpoint;
  if (!told.startsWith("/")) return { socket, ...answer };
  const there = await lookAtSocket(told === path ? path : join(hostRoot, told));
  const identity = await askIdentity(there, timeoutMs);
  return { socket, ...answer, endpoint: { socket: there, identity } };
}

/**
 * Asks kubelet's Pods API, which has its socket in kubelet's root, beside the registration directory (1.37, `PodsAPI`).
 * Undefined where none is seen: an older kubelet, or a container that does not have the folder.
 */
export async function lookAtPods(
  pluginRegistrationPath: string,
  timeoutMs: number,
): Promise<Answer<readonly UnstartedPod[]> | undefined> {
  const socket = await lookAtSocket(join(dirname(pluginRegistrationPath), "pods-api", "pods-api.sock"));
  if (socket.kind === "not-accepting")
    return { kind: "failed", code: "Unavailable", message: socket.explanation };
  if (socket.kind !== "accepting") return undefined;
  const answer = await askPods(socket.path, timeoutMs);
  return answer.kind === "answered"
    ? { kind: "answered", value: answer.value.pods.flatMap(unstarted) }
    : answer;
}

/**
 * Volumes are mounted before the pod's sandbox is made, which kubelet tells by the condition PodReadyToStartContainers. Only
 * an inline volume names its driver: a claim's is in its PersistentVolume, which is on the API server.
 */
function unstarted({ metadata, spec, status }: ListPodsResponse["pods"][number]): readonly UnstartedPod[] {
  const hasSandbox = status?.conditions.some(
    (one) => one.type === "PodReadyToStartContainers" && one.status === "True",
  );
  if (status?.phase !== "Pending" || hasSandbox || metadata?.deletionTimestamp) return [];
  const drivers = spec?.volumes.flatMap(({ volumeSource }) => volumeSource?.csi?.driver || []) ?? [];
  const pod = `${metadata?.namespace}/${metadata?.name}`;
  return drivers.length === 0 ? [] : [{ pod, drivers: [...new Set(drivers)] }];
}

/** The pods that have not started, by the driver of their inline volumes; undefined if kubelet does not tell. */
export function podsByDriver({ pods }: Facts): ReadonlyMap<string, readonly string[]> | undefined {
  if (pods?.kind !== "answered") return undefined;
  const pairs = pods.value.flatMap(({ pod, drivers }) => drivers.map((driver) => ({ driver, pod })));
  return new Map(
    [...grouped(pairs, ({ driver }) => driver)].map(([driver, all]) => [driver, all.map(({ pod }) => pod)]),
  );
}
