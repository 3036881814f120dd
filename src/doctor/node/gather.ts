import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { attempt } from "../../base/errors";
import { judgeByMounts } from "../../host-path/advice";
import type { HostPathVerdict } from "../../host-path/host-path";
import { socketsFitting } from "../../registrar/node-wide/discovery";
import { readMounts } from "../../unix/mounts";
import { KNOWN_DIRECTORIES } from "../rules/registration-directory";
import { askDriver } from "./calls";
import type { Facts, SocketFacts, Target } from "./facts";
import { lookAtDirectory, lookAtSelinux, otherDirectories } from "./host-facts";
import type { NodeReadinessFacts, NodeReadinessTarget } from "./node-readiness-facts";
import { lookAtPods } from "./pods-facts";
import { listRegistrations, lookAtRegistration } from "./registration-facts";
import { lookAtSocket } from "./socket-facts";
import { hasNoSocket, isDead, isStuck } from "./words";

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
  const registrationPaths = listRegistrations(pluginRegistrationPath).paths;
  const known = knownDirectories.map((path) => join(hostRoot, path));
  const [driver, kubeletPath, directory, registrations, nodeReadiness, pods] = await Promise.all([
    csiSocketPath === undefined ? undefined : lookAtSocket(csiSocketPath).then(ask),
    kubeletRegistrationPath?.startsWith("/")
      ? lookAtSocket(join(hostRoot, kubeletRegistrationPath))
      : undefined,
    lookAtDirectory(pluginRegistrationPath, PROC),
    Promise.all(registrationPaths.map((path) => lookAtRegistration(path, timeoutMs, hostRoot))),
    target.nodeReadiness && askApiServer(target.nodeReadiness),
    lookAtPods(pluginRegistrationPath, timeoutMs),
  ]);
  const fitting = new Set(target.pattern === undefined ? [] : socketsFitting(target.pattern));
  const paths = new Set([...socketsUnder(join(dirname(pluginRegistrationPath), "plugins")), ...fitting]);
  const sockets = await Promise.all([...paths].map((path) => lookAtSocket(path)));
  return {
    target,
    driver,
    hostPath: driver && hasNoSocket(driver.socket) ? undefined : hostPathVerdict(target),
    found: await Promise.all(livingBeside(driver?.socket, sockets).map(ask)),
    deadSockets: sockets.filter((socket) => fitting.has(socket.path) && isDead(socket)),
    kubeletPath,
    directory,
    registrations,
    host: {
      uid,
      selinux: lookAtSelinux(PROC, SYS),
      otherDirectories: otherDirectories(pluginRegistrationPath, known),
    },
    nodeReadiness,
    pods,
  };
}

/** Loads the client of the API server, which most calls of the doctor do not need. */
async function askApiServer(target: NodeReadinessTarget): Promise<NodeReadinessFacts> {
  const { lookAtNodeReadiness } = await import("./node-readiness-facts");
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
function socketsUnder(folder: string, depth = MAX_DEPTH): readonly string[] {
  if (depth === 0) return [];
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isSocket()) return [path];
      const isKubelets = entry.name === "kubernetes.io" || entry.name === "globalmount";
      return entry.isDirectory() && !isKubelets ? socketsUnder(path, depth - 1) : [];
    })
    .slice(0, MAX_SOCKETS);
}

function hostPathVerdict(target: Target): HostPathVerdict | undefined {
  const { csiSocketPath = target.pattern, kubeletRegistrationPath, pluginRegistrationPath } = target;
  // The mounts of this namespace say nothing about the host's own root below `hostRoot`.
  const isBelow = target.hostRoot !== undefined && target.hostRoot !== "/";
  if (kubeletRegistrationPath === undefined || isBelow) return undefined;
  return judgeByMounts({ csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath }, readMounts(PROC));
}
