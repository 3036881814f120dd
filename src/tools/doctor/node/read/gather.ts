import { join } from "node:path";
import { type HostPathVerdict, judgeByMounts } from "../../../../host-path/host-path";
import { parseMountinfo } from "../../../../unix/mounts";
import { KNOWN_DIRECTORIES } from "../../findings/registration-directory";
import { startReading, type Unread, whyOf } from "../../findings/seen";
import { hiddenIn, lookAtDirectory, type Mounts, ofHost, otherDirectories } from "./directory";
import { answerIn, gapsIn, type NodePart, type SeenDriver, type Target, unreadAt } from "./facts";
import { lookAtEach, pathOnHost, reachBelow, reachOnHost, readWhole } from "./files";
import { findProcesses } from "./processes";
import { hasNoSocket, lookAtSocket, type SocketFacts } from "./socket";
import { findSockets, lookAtRegistrations, partGaps, type RegistrationFacts } from "./sockets-found";

interface GatherOptions {
  /** Bounds each call, in milliseconds; NodeGetInfo takes up to ten times as long. */
  readonly timeoutMs: number;
  /** The doctor's own user ID; undefined on a system without user IDs. */
  readonly uid: number | undefined;
  /** Registration directories of other kubelets. Default `KNOWN_DIRECTORIES`. */
  readonly knownDirectories?: readonly string[];
  /** Default `/proc`. */
  readonly procfs?: string;
  /** The time of the look, in milliseconds since the epoch. */
  readonly nowMs?: number;
}

export type Facts = Awaited<ReturnType<typeof gatherFacts>>;

/**
 * Sees what there is to see, and changes nothing: it makes no file, and registrars of this project do not take its calls
 * for kubelet's. What it cannot see is a fact too: it never rejects.
 */
export async function gatherFacts(given: Target, options: GatherOptions) {
  const { timeoutMs, uid, knownDirectories = KNOWN_DIRECTORIES, procfs = "/proc", nowMs } = options;
  const { csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = given;
  const reading = startReading<NodePart>();
  const ask = async (socket: SocketFacts) => (await import("./calls")).askDriver(socket, timeoutMs);
  const mountsPath = join(procfs, "self", "mountinfo");
  const mounts = await readWhole(mountsPath, "\n").then(
    (text): Mounts => parseMountinfo(text),
    (error: unknown) => reading.unread({ part: "directory", subject: mountsPath, why: whyOf(error) }),
  );
  const reach = (path: string) => reachOnHost(hostRoot, path);
  const [csiSocket, kubeletSocket, directory] = await Promise.all([
    csiSocketPath === undefined
      ? undefined
      : lookAtSocket(csiSocketPath, { reach, own: pathOnHost(hostRoot, csiSocketPath) }),
    kubeletRegistrationPath?.startsWith("/")
      ? lookAtSocket(kubeletRegistrationPath, { reach: (path) => reachBelow(hostRoot, path) })
      : undefined,
    lookAtDirectory(pluginRegistrationPath, mounts, reading, given),
  ]);
  const target: Target = { ...given, csiSocketPath: csiSocket?.path };
  const named = csiSocket && hiddenIn(directory, csiSocket);
  const asOnHost = (found: SocketFacts) =>
    hostRoot === "/" ? ofHost(directory, mounts, found) : hiddenIn(directory, found);
  const kubeletPath = kubeletSocket && asOnHost(kubeletSocket);
  const driver = named && (await ask(named));
  const { living, dead, onHost, ...found } = await findSockets(target, named, directory, mounts);
  const others = await lookAtEach(living, ask, ({ path }, why) => ({ part: "sockets", subject: path, why }));
  const drivers = [...(driver ? [driver] : []), ...others.items];
  // Last: what is published while the drivers are asked is published.
  const looked = await lookAtRegistrations(pluginRegistrationPath, timeoutMs, hostRoot, directory, asOnHost);
  const { registrations, unlisted, unasked, unsought } = looked;
  const beside = await otherDirectories(pluginRegistrationPath, knownDirectories, hostRoot);
  const { needed, aside } = partGaps(found.gaps, found.directories, [
    ...[named, kubeletPath].flatMap((one) => one?.path ?? []),
    ...registeredSockets(registrations, drivers),
  ]);
  const gaps = [...needed, ...others.gaps, ...(target.unseen ? [target.unseen] : [])];
  const nameless = drivers.flatMap(({ identity }) => gapsIn(identity));
  for (const gap of [...gapsOfAnswers(drivers, registrations), ...aside]) reading.unread(gap);
  return {
    target,
    driver,
    /** The kubelet registration path, judged by the mounts; unknown without a socket to judge it by. */
    hostPath: await judgeHostPathOf(target, mounts, driver),
    /** The driver that was named, then the other living ones: below kubelet's root, or fitting a pattern. */
    allDrivers: reading.list(drivers, [...gaps, ...nameless]).with(found.unsought),
    deadSockets: reading.list(dead, gaps).with(found.unsoughtDead),
    socketsOnHost: reading.list(onHost, gaps).with(found.unsoughtOnHost),
    kubeletPath,
    directory,
    registrations: reading.list(registrations, [...unlisted, ...unasked]).with(unsought),
    processes: await findProcesses(pluginRegistrationPath, procfs, reading),
    host: { uid, otherDirectories: reading.list(beside) },
    nowMs: nowMs ?? Date.now(),
    /** What could not be read. */
    gaps: reading.gaps(),
  };
}

/** What drivers and endpoints did not tell; that an endpoint is hidden is said with its registration. */
function gapsOfAnswers(drivers: readonly SeenDriver[], registrations: readonly RegistrationFacts[]) {
  const endpoints = registrations.flatMap(({ endpoint }) => endpoint ?? []);
  const answers = [...drivers.map(({ nodeInfo }) => nodeInfo), ...endpoints.map(({ identity }) => identity)];
  const gaps = gapsIn(...answers, ...endpoints.map(({ socket }) => socket));
  return gaps.filter(({ why }) => why.kind !== "unmounted");
}

/** Where drivers with a registrar have their sockets: as it says, or as they are seen here by their names. */
function registeredSockets(
  registrations: readonly RegistrationFacts[],
  drivers: readonly SeenDriver[],
): readonly string[] {
  const plugins = registrations.filter(({ info }) => answerIn(info)?.type === "CSIPlugin");
  const names = new Set(plugins.map(({ info }) => answerIn(info)?.name));
  const seen = drivers.filter(({ identity }) => names.has(answerIn(identity)?.name ?? ""));
  return [...plugins.flatMap(({ endpoint }) => endpoint ?? []), ...seen].map(({ socket }) => socket.path);
}

export type HostPath = Exclude<HostPathVerdict, { readonly kind: "unknown" }> | Unread<NodePart>;

/** Mounts that do not tell are unread for the judges; no finding reports them, because nothing failed. */
export const hostPathOf = (verdict: HostPathVerdict): HostPath =>
  verdict.kind === "unknown" ? unreadAt("sockets", "the path that kubelet gets", { kind: "aside" }) : verdict;

async function judgeHostPathOf(
  target: Target,
  mounts: Mounts,
  driver: SeenDriver | undefined,
): Promise<HostPath> {
  const { csiSocketPath, pattern, kubeletRegistrationPath, pluginRegistrationPath, hostRoot = "/" } = target;
  const isNowhere = (socket: SocketFacts) =>
    socket.kind === "unread" ? socket.gap.why.kind === "unmounted" : hasNoSocket(socket);
  // The mounts of this namespace say nothing about the host's own root below `hostRoot`.
  const isSeen = hostRoot === "/" && !(driver && isNowhere(driver.socket));
  if (!isSeen || kubeletRegistrationPath === undefined) return hostPathOf({ kind: "unknown" });
  if ("gap" in mounts) return mounts;
  const csiAddress = csiSocketPath ?? pattern;
  const paths = { csiSocketPath: csiAddress, pluginRegistrationPath, endpoint: kubeletRegistrationPath };
  return hostPathOf(await judgeByMounts(paths, mounts));
}
