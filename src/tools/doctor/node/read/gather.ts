import { basename } from "node:path";
import { type HostPathVerdict, judgeByMounts } from "../../../../host-path/host-path";
import { isHiddenSocket } from "../../../../unix/private-socket";
import { grouped } from "../../findings/finding";
import { KNOWN_DIRECTORIES } from "../../findings/registration-directory";
import { startReading } from "../../findings/seen";
import { lookAtDirectory, otherDirectories } from "./directory";
import {
  gapOf,
  hasNoSocket,
  isUnread,
  type NodeGap,
  type NodePart,
  type SeenDriver,
  type SocketFacts,
  type Target,
} from "./facts";
import { lookAtSocket } from "./files";
import { reachBelow } from "./host-root";
import { findProcesses } from "./processes";
import { listRegistrations, lookAtRegistration } from "./registrations";
import { findSockets } from "./sockets-found";

export interface GatherOptions {
  /** Bounds each call, in milliseconds; NodeGetInfo takes up to ten times as long. */
  readonly timeoutMs: number;
  /** The doctor's own user ID; undefined on a system without user IDs. */
  readonly uid: number | undefined;
  /** Registration directories of other kubelets. Default `KNOWN_DIRECTORIES`. */
  readonly knownDirectories?: readonly string[];
  /** Default `/proc`. */
  readonly procfs?: string;
}

/** More calls at once would run into their deadlines under a low CPU limit. */
const AT_ONCE = 16;

export type Facts = Awaited<ReturnType<typeof gatherFacts>>;
export type RegistrationFacts = Awaited<ReturnType<typeof lookAtRegistration>>;

/**
 * Sees what there is to see, and changes nothing: it makes no file, and registrars of this project do not take its calls
 * for kubelet's. What it cannot see is a fact too: it never rejects.
 */
export async function gatherFacts(target: Target, options: GatherOptions) {
  const { timeoutMs, uid, knownDirectories = KNOWN_DIRECTORIES, procfs = "/proc" } = options;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = target;
  const ask = async (socket: SocketFacts) => (await import("./calls")).askDriver(socket, timeoutMs);
  const reading = startReading<NodePart>();
  const known = await Promise.all(knownDirectories.map((path) => reachBelow(hostRoot, path)));
  const listed = await listRegistrations(pluginRegistrationPath);
  const lookAt = (paths: readonly string[]) =>
    inGroups(paths, (path) => lookAtRegistration(path, timeoutMs, hostRoot));
  const [driver, kubeletPath, directory, firstSeen] = await Promise.all([
    csiSocketPath === undefined ? undefined : lookAtSocket(csiSocketPath).then(ask),
    kubeletRegistrationPath?.startsWith("/")
      ? reachBelow(hostRoot, kubeletRegistrationPath).then((path) => lookAtSocket(path))
      : undefined,
    lookAtDirectory(pluginRegistrationPath, procfs, reading),
    lookAt(listed.paths),
  ]);
  // A registrar that kubelet refuses publishes again under another name.
  const later = await listRegistrations(pluginRegistrationPath);
  const isMoved = later.gaps.length === 0 && later.paths.join("\0") !== listed.paths.join("\0");
  const { living, dead, socketsOnHost, gaps } = await findSockets(target, driver?.socket);
  const looked = isMoved ? await lookAt(later.paths) : firstSeen;
  // One hidden from kubelet tells only by its answer.
  const registrations = looked.filter(
    ({ socket, report }) => report !== undefined || !isHiddenSocket(basename(socket.path)),
  );
  // One that could be listed once may not be the next time.
  const unlisted = distinct([...listed.gaps, ...later.gaps]);
  return {
    target,
    driver,
    /** The kubelet registration path, judged by the mounts; unknown without a socket to judge it by. */
    hostPath: await judgeHostPathOf(target, driver),
    /** The driver that was named, then the other living ones: below kubelet's root, or fitting a pattern. */
    allDrivers: reading.list([...(driver ? [driver] : []), ...(await inGroups(living, ask))], gaps),
    deadSockets: reading.list(dead, gaps),
    socketsOnHost,
    kubeletPath,
    directory,
    registrations: reading.list(registrations, [
      ...(directory.kind === "unread" && unlisted.length === 0 ? [directory.gap] : unlisted),
      ...looked.flatMap(({ socket }) => (isUnread(socket) ? gapOf(socket, "directory") : [])),
    ]),
    processes: await findProcesses(pluginRegistrationPath, procfs, reading),
    host: {
      uid,
      otherDirectories: await otherDirectories(pluginRegistrationPath, known),
    },
    /** What could not be read. */
    gaps: reading.gaps(),
  };
}

const distinct = (gaps: readonly NodeGap[]): readonly NodeGap[] =>
  [...grouped(gaps, ({ subject }) => subject).values()].map(([gap]) => gap);

async function judgeHostPathOf(target: Target, driver: SeenDriver | undefined): Promise<HostPathVerdict> {
  const { csiSocketPath, pattern, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = target;
  // The mounts of this namespace say nothing about the host's own root below `hostRoot`.
  const isSeen = hostRoot === "/" && !(driver && hasNoSocket(driver.socket));
  if (!isSeen || kubeletRegistrationPath === undefined) return { kind: "unknown" };
  const csiAddress = csiSocketPath ?? pattern;
  return judgeByMounts({
    csiSocketPath: csiAddress,
    pluginRegistrationPath,
    endpoint: kubeletRegistrationPath,
  });
}

async function inGroups<One, Result>(items: readonly One[], look: (item: One) => Promise<Result>) {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(look))));
  return results;
}
