import { dirname, join } from "node:path";
import { judgeByMounts } from "../../host-path/advice";
import type { HostPathVerdict } from "../../host-path/host-path";
import { readMounts } from "../../host-path/mount-table";
import { socketsFitting } from "../../registrar/node-wide/discovery";
import { KNOWN_DIRECTORIES } from "../rules/registration-directory";
import { createQuestioner } from "./calls";
import { lookAtDirectory } from "./directory-facts";
import type { Facts, SocketFacts, Target } from "./facts";
import { lookAtSelinux, otherDirectories } from "./host-facts";
import { socketsUnder } from "./plugin-sockets";
import { listRegistrations, lookAtRegistration } from "./registration-facts";
import { lookAtSocket } from "./socket-facts";
import { downCause, hasNoSocket, isStuck } from "./words";

/** How to look. */
export interface GatherOptions {
  /** Bounds each call, in milliseconds; NodeGetInfo takes up to ten times as long. Default 1,000. */
  readonly timeoutMs?: number;
  /** Our own user ID, for the report; undefined on a system without user IDs. */
  readonly uid: number | undefined;
  /** Where the kernel tells of itself. Default `/proc` and `/sys`. */
  readonly procfs?: string;
  readonly sysfs?: string;
  /** Registration directories of kubelets to know of. Default `KNOWN_DIRECTORIES`. */
  readonly knownDirectories?: readonly string[];
}

/**
 * Sees what there is to see, and changes nothing: no file is made, no right tried, and our own registrars do not take
 * its calls for kubelet's. Whatever cannot be seen is a fact too; it rejects only for a bug.
 */
export async function gatherFacts(target: Target, options: GatherOptions): Promise<Facts> {
  const {
    timeoutMs = 1_000,
    procfs = "/proc",
    sysfs = "/sys",
    knownDirectories = KNOWN_DIRECTORIES,
  } = options;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = target;
  const questioner = createQuestioner(timeoutMs);
  const lookAtDriver = async (path: string) => questioner.askDriver(await lookAtSocket(path));
  const registrationPaths = listRegistrations(pluginRegistrationPath).paths;
  const known = knownDirectories.map((path) => join(hostRoot, path));
  const [driver, kubeletPath, directory, registrations, nodeReadiness] = await Promise.all([
    csiSocketPath === undefined ? undefined : lookAtDriver(csiSocketPath),
    kubeletRegistrationPath?.startsWith("/")
      ? lookAtSocket(join(hostRoot, kubeletRegistrationPath))
      : undefined,
    lookAtDirectory(pluginRegistrationPath, procfs),
    Promise.all(registrationPaths.map((path) => lookAtRegistration(path, questioner, hostRoot))),
    askApiServer(target),
  ]);
  const fitting = await Promise.all((target.patterns ?? []).flatMap(socketsFitting).map(lookAtSocket));
  const others = await lookForOthers(target, fitting, driver?.socket);
  return {
    target,
    driver,
    hostPath: driver && hasNoSocket(driver.socket) ? undefined : hostPathVerdict(target, procfs),
    found: await Promise.all(others.map((socket) => questioner.askDriver(socket))),
    deadSockets: fitting.filter((socket) => downCause(socket) !== undefined),
    kubeletPath,
    directory,
    registrations,
    host: {
      uid: options.uid,
      selinux: lookAtSelinux(procfs, sysfs),
      otherDirectories: otherDirectories(pluginRegistrationPath, known),
    },
    nodeReadiness,
  };
}

/** Loads the client of the API server only where there is something to ask. */
async function askApiServer({ nodeReadiness }: Target): Promise<Facts["nodeReadiness"]> {
  if (nodeReadiness === undefined) return undefined;
  const { lookAtNodeReadiness } = await import("./node-readiness-facts");
  return lookAtNodeReadiness(nodeReadiness);
}

/**
 * Living sockets of other drivers, also those that take no connection; unreadable and dead ones say nothing: a driver
 * may be gone for good.
 */
async function lookForOthers(
  { pluginRegistrationPath }: Target,
  fitting: readonly SocketFacts[],
  known: SocketFacts | undefined,
): Promise<readonly SocketFacts[]> {
  const plugins = join(dirname(pluginRegistrationPath), "plugins");
  const lookedAt = new Set(fitting.map(({ path }) => path));
  const paths = socketsUnder(plugins).filter((path) => !lookedAt.has(path));
  const sockets = [...(await Promise.all(paths.map(lookAtSocket))), ...fitting];
  const seen = new Set(inodesOf(known));
  return sockets.filter((socket) => {
    if ((socket.kind !== "accepting" && !isStuck(socket)) || seen.has(socket.inode)) return false;
    seen.add(socket.inode);
    return true;
  });
}

function inodesOf(socket: SocketFacts | undefined): readonly string[] {
  return socket !== undefined && "inode" in socket ? [socket.inode] : [];
}

function hostPathVerdict(target: Target, procfs: string): HostPathVerdict | undefined {
  const { csiSocketPath = target.patterns?.[0], kubeletRegistrationPath, pluginRegistrationPath } = target;
  // Below the host's own root the mounts of this namespace say nothing.
  const isBelow = target.hostRoot !== undefined && target.hostRoot !== "/";
  if (kubeletRegistrationPath === undefined || isBelow) return undefined;
  return judgeByMounts(
    { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath },
    readMounts(procfs),
  );
}
