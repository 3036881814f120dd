import type { Dirent } from "node:fs";
import { dirname, join, relative } from "node:path";
import { judgeByMounts } from "../../../host-path/advice";
import type { HostPathVerdict } from "../../../host-path/host-path";
import { socketsFitting } from "../../../registrar/node-wide/discovery";
import { readMounts } from "../../../unix/mounts";
import { isRegistrationDirectory, KNOWN_DIRECTORIES } from "../../rules/registration-directory";
import { askDriver } from "./calls";
import { type Facts, hasNoSocket, isDead, isStuck, type SocketFacts, type Target } from "./facts";
import { lookAtDirectory, lookAtSelinux, otherDirectories } from "./host-facts";
import type { NodeReadinessFacts, NodeReadinessTarget } from "./node-readiness";
import { lookAtPods } from "./pods";
import { findRegistrars } from "./processes";
import { listRegistrations, lookAtRegistration } from "./registrations";
import { lookAtSocket } from "./socket";
import { walk } from "./walk";

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
    hostPath: driver && hasNoSocket(driver.socket) ? undefined : hostPathVerdict(target),
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

function hostPathVerdict(target: Target): HostPathVerdict | undefined {
  const { csiSocketPath = target.pattern, kubeletRegistrationPath, pluginRegistrationPath } = target;
  // The mounts of this namespace say nothing about the host's own root below `hostRoot`.
  const isBelow = target.hostRoot !== undefined && target.hostRoot !== "/";
  if (kubeletRegistrationPath === undefined || isBelow) return undefined;
  return judgeByMounts({ csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }, readMounts(PROC));
}
