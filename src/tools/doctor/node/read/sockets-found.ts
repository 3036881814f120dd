import type { Dirent } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { segmentsOf } from "../../../../host-path/path-pattern";
import { SOCKET_TAIL } from "../../../../registrar/model/socket-name";
import { carefulLook, rootOf, scan } from "../../../../registrar/node-wide/scan";
import { timedOut } from "../../../../unix/file-calls";
import { type FileFound, listNames } from "../../../../unix/files";
import { isWithin } from "../../../../unix/mounts";
import { dotKindOf } from "../../../../unix/private-socket";
import { tryConnect } from "../../../../unix/unix-socket";
import { grouped } from "../../findings/grouped";
import { trueOrNull } from "../../findings/opened";
import { isRegistrationDirectory } from "../../findings/registration-directory";
import { truth, unsoughtIf, type Why, whyOf } from "../../findings/seen";
import type { askRegistration } from "./calls";
import { type DirectoryFacts, isHosts, leadsAsOnHost, type Mounts } from "./directory";
import { answerIn, gapsIn, type NodeGap, type Target, unreadAt } from "./facts";
import {
  errnoIn,
  isThereNone,
  linkAt,
  lookAtEach,
  pathOnHost,
  reachBelow,
  reachOnHost,
  realPath,
  walk,
} from "./files";
import { pathHere } from "./paths";
import { lookAtSocket, type SocketFacts, type SocketKind } from "./socket";

/** Where drivers have their sockets below kubelet's root; Alibaba's have theirs in the second one. */
const DRIVER_DIRECTORIES: readonly string[] = ["plugins", "csi-plugins"];

/** Drivers have their socket in a directory of their own, some a directory deeper. */
const MAX_DEPTH = 4;
/** More than a node has drivers. */
const MAX_SOCKETS = 500;

const SOCKETS = { part: "sockets", isWanted: (entry: Dirent) => entry.isSocket() } as const;
/** Kubelet's own directories in plugins/kubernetes.io: below them are volumes, by the hash of their handle (csi_util.go). */
const OF_KUBELET = /^(?:mounts|pv|volumeDevices|flexvolume|[0-9a-f]{64})$/;
/** Where services have their sockets: to connect may start one. */
const OF_SERVICES = ["/", "/run", "/var/run", "/tmp"];

const SILENT: readonly (SocketKind | undefined)[] = ["missing", "dead", "stuck"];
/** A process listens on them, or may. */
const MAY_LIVE: readonly SocketKind[] = ["accepting", "stuck", "unread"];

/** The sockets beside a driver's that does not answer: it may listen on one of them. */
async function walkBeside(driver: SocketFacts | undefined, isOfServices: (path: string) => boolean) {
  const directory = dirname(driver?.path ?? "/");
  if (!SILENT.includes(driver?.kind) || isOfServices(directory)) return { paths: [], gaps: [] };
  return walk(directory, { ...SOCKETS, mayEnter: () => false }, 1);
}

/** The sockets that fit a pattern as the registrar finds them; tells what may be missing. */
async function socketsFitting(
  pattern: string,
  reach: (path: string) => Promise<string>,
  tell: (subject: string, why: Why) => void,
  leadsFrom: (top: string) => ReturnType<typeof leadsOnHost>,
) {
  const given = rootOf({ segments: segmentsOf(pattern) });
  const root = await reach(given).catch((error: unknown) => void tell(given, whyOf(error)));
  if (root === undefined) return [];
  const parsed = { segments: segmentsOf(join(root, pattern.slice(given.length))) };
  const onRead = (path: string, error: unknown) => error !== undefined && tell(path, whyOf(error));
  const careful = carefulLook(root, ({ mountPoint, fileSystem }) =>
    tell(mountPoint, { kind: "mount", fileSystem }),
  );
  const reached = new Map<string, string>();
  const look = async (path: string): Promise<FileFound> => {
    try {
      const place = await reach(path);
      reached.set(path, place);
      const found = await careful(place);
      const to = found === "gone" ? await linkAt(path) : null;
      if (to !== null && !leadsFrom(given)(path, to)) tell(path, { kind: "link", to });
      if (found !== "hanging") return found;
      onRead(path, timedOut(path));
    } catch (error) {
      onRead(path, error);
    }
    return "hanging";
  };
  const list = (path: string) => listNames(reached.get(path) ?? path);
  const { sockets } = await scan(parsed, { look, list, onRead });
  if (sockets.size > MAX_SOCKETS) tell(pattern, { kind: "cut", read: MAX_SOCKETS, there: sockets.size });
  return [...sockets.keys()].slice(0, MAX_SOCKETS).map((path) => reached.get(path) ?? path);
}

const leadsOnHost = (facts: DirectoryFacts, top: string, hostRoot: string) => (path: string, link: string) =>
  hostRoot !== "/" || leadsAsOnHost(facts, top, path, link);

/** Looks at the sockets below kubelet's root, and at those that fit the pattern. `driver` is looked at already. */
export async function findSockets(
  target: Target,
  driver: SocketFacts | undefined,
  registrationDirectory: DirectoryFacts,
  mounts: Mounts,
) {
  const { pattern, pluginRegistrationPath, hostRoot = "/" } = target;
  const onTheWay: NodeGap[] = [];
  const tell = (subject: string, why: Why) => void onTheWay.push({ part: "sockets", subject, why });
  const reach = (path: string) => reachOnHost(hostRoot, path);
  const leadsFrom = (top: string) => leadsOnHost(registrationDirectory, top, hostRoot);
  const fitting = new Set(pattern === undefined ? [] : await socketsFitting(pattern, reach, tell, leadsFrom));
  const { kubeletRoot: root = dirname(pluginRegistrationPath) } = target;
  const own = (path: string) => pathOnHost(hostRoot, path);
  const isOfServices = (path: string) => OF_SERVICES.includes(own(path));
  const follow = async (path: string) => {
    const reached = await reachOnHost(hostRoot, path, realPath);
    return isOfServices(reached) ? undefined : reached;
  };
  const reachDirectory = async (name: string) => {
    const path = join(root, name);
    return reach(path).catch((error: unknown) => {
      if (!isThereNone(errnoIn(error))) tell(path, whyOf(error));
      return path;
    });
  };
  const directories = await Promise.all(DRIVER_DIRECTORIES.map(reachDirectory));
  const mayEnter = ({ name, parentPath }: Dirent) => {
    if (name === "globalmount") return false;
    return parentPath.includes("/kubernetes.io") && OF_KUBELET.test(name) ? "list" : true;
  };
  const walking = directories.map((path) => {
    const links = { follow, isAsOnHost: leadsFrom(path) };
    return walk(path, { ...SOCKETS, mayEnter, links }, MAX_DEPTH);
  });
  const walks = await Promise.all([...walking, walkBeside(driver, isOfServices)]);
  const paths = [...new Set(walks.flatMap((one) => one.paths))];
  const cut: Why = { kind: "cut", read: MAX_SOCKETS, there: paths.length };
  const seen = new Set([...paths.slice(0, MAX_SOCKETS), ...fitting]);
  const sockets = await Promise.all([...seen].map((path) => lookAtSocket(path, { own: own(path) })));
  const living = sockets.filter(({ kind }) => kind === "accepting" || kind === "stuck");
  const others = new Map(living.map((one) => [one.inode, one]));
  others.delete(driver?.inode);
  const isHost = (path: string) => isHosts(registrationDirectory, mounts, path, hostRoot);
  const areHosts = await Promise.all(directories.map(isHost));
  const unsought = unsoughtIf(areHosts.includes(false), "sockets", root);
  const isOnHost = isRegistrationDirectory(pluginRegistrationPath);
  const [dead, isAll] = deadIn(sockets, fitting, onTheWay);
  return {
    directories,
    /** What of kubelet's root is not mounted here. */
    unsought,
    /** One for each inode; their listen queue may be full. */
    living: [...others.values()],
    dead,
    unsoughtDead: unsought.with(unsoughtIf(!isAll, "sockets", root)),
    /** Their paths as the host has them. */
    onHost: isOnHost
      ? sockets.flatMap(({ inode, path }) => (inode === undefined ? [] : { inode, path: own(path) }))
      : [],
    unsoughtOnHost: unsought.with(unsoughtIf(!isOnHost, "sockets", root)),
    gaps: [
      ...walks.flatMap((one) => one.gaps),
      ...(paths.length > MAX_SOCKETS ? [{ part: "sockets", subject: root, why: cut } as const] : []),
      ...gapsIn(...sockets),
      ...onTheWay,
    ],
  };
}

/**
 * Those on which no process listens, without a living one beside them, and all of them that fit the pattern; and whether these are all.
 * `unsearched`: what may have more that fit.
 */
function deadIn(
  sockets: readonly SocketFacts[],
  fitting: ReadonlySet<string>,
  [unsearched]: readonly NodeGap[],
) {
  const inodes = new Set(sockets.flatMap(({ inode, path }) => (fitting.has(path) ? inode : [])));
  const mayLive = sockets.filter(({ kind }) => MAY_LIVE.includes(kind));
  const mayLiveBeside = (path: string) => mayLive.some((other) => dirname(other.path) === dirname(path));
  const all = sockets
    .filter(({ kind }) => kind === "dead")
    .map((socket) => ({ socket, fits: truth(inodes.has(socket.inode) || (unsearched ?? false)) }));
  const dead = all.filter(({ socket, fits }) => trueOrNull(fits) || !mayLiveBeside(socket.path));
  return [dead, dead.length === all.length] as const;
}

/**
 * Parts what was too deep to be searched, and mounts, from the other gaps. No driver has its socket below the directory of another
 * one, nor among the volumes that kubelet mounts itself: these are `aside`. One is enough, because there may be thousands.
 */
export function partGaps(
  gaps: readonly NodeGap[],
  directories: readonly string[],
  driverSockets: readonly string[],
) {
  const isOwn = (path: string) => !directories.some((directory) => isWithin(directory, path));
  const own = [
    ...driverSockets.map((path) => dirname(path)).filter(isOwn),
    ...directories.map((directory) => join(directory, "kubernetes.io")),
  ];
  const isAside = ({ why, subject }: NodeGap) =>
    ["deep", "mount"].includes(why.kind) &&
    [subject, ...(why.kind === "deep" ? [why.from] : [])].some((at) =>
      own.some((path) => isWithin(at, path)),
    );
  const [aside, others] = [gaps.filter(isAside), gaps.filter((gap) => !isAside(gap))];
  const isFirst = ({ why }: NodeGap, at: number) =>
    why.kind !== "deep" || others.findIndex((other) => other.why.kind === "deep") === at;
  return {
    aside: aside.slice(0, 1).map((gap): NodeGap => ({ ...gap, why: { kind: "aside" } })),
    needed: others.filter(isFirst),
  };
}

/** Registrars publish, hide and remove their sockets while they are read. */
const MOST_TRIES = 5;

export type RegistrationFacts = Awaited<ReturnType<typeof lookAtRegistration>>;

/** Looks at what is on the registration sockets. If the directory changes meanwhile, it looks again. */
export async function lookAtRegistrations(
  directory: string,
  timeoutMs: number,
  hostRoot: string,
  facts: DirectoryFacts,
  asOnHost: AsOnHost,
) {
  const isAsOnHost = leadsOnHost(facts, directory, hostRoot);
  for (let tried = 1; ; tried++) {
    const before = await listRegistrations(directory, hostRoot, isAsOnHost);
    const { items: looked, gaps } = await lookAtEach(
      before.paths,
      (path) => lookAtRegistration(path, timeoutMs, hostRoot, isAsOnHost, asOnHost),
      (subject, why): NodeGap => ({ part: "directory", subject, why }),
    );
    const after = await listRegistrations(directory, hostRoot, isAsOnHost);
    const isSame = after.paths.join("\0") === before.paths.join("\0");
    if (!isSame && tried < MOST_TRIES) continue;
    const moving: NodeGap = { part: "directory", subject: directory, why: { kind: "moving" } };
    // A directory that could be listed once may not be the next time.
    const gone = [...before.gaps, ...after.gaps, ...gaps, ...(isSame ? [] : [moving])];
    const unlisted = facts.kind === "unread" && gone.length === 0 ? [facts.gap] : gone;
    const isNone = facts.kind === "missing" || facts.kind === "not-a-directory";
    return {
      registrations: looked.filter(({ socket: { path }, info }) => {
        const plugin = answerIn(info);
        // One hidden from kubelet tells only by its answer.
        if (isHidden(path)) return plugin?.report;
        // Kubelet finds a hidden directory only when it starts.
        return plugin ?? !relative(directory, dirname(path)).split("/").some(isHiddenName);
      }),
      unlisted: [...grouped(unlisted, ({ subject }) => subject).values()].map(([gap]) => gap),
      unsought: unsoughtIf(isNone, "directory", directory),
      unasked: looked.flatMap(({ socket, info }) => gapsIn(socket, info)),
    };
  }
}

const isHiddenName = (name: string) => name.startsWith(".");
const isHidden = (path: string) => dotKindOf(basename(path)) === "out";

/**
 * Lists sockets, links to sockets and what is named like one, as kubelet's plugin watcher does, also in subdirectories; and those
 * hidden from it.
 */
async function listRegistrations(
  directory: string,
  hostRoot: string,
  isAsOnHost: ReturnType<typeof leadsOnHost>,
) {
  const isWanted = (entry: Dirent) =>
    isHiddenName(entry.name) ? isHidden(entry.name) : entry.isSocket() || entry.name.endsWith(SOCKET_TAIL);
  const mayEnter = (entry: Dirent) => entry.isDirectory() || !isHiddenName(entry.name);
  const follow = (path: string) => reachOnHost(hostRoot, path, realPath);
  const links = { follow, isAsOnHost, keepsPaths: true };
  const { paths, gaps } = await walk(directory, { part: "directory", isWanted, mayEnter, links });
  return { gaps, paths: paths.sort() };
}

/** What is on the host, of a path of the host that was looked at here. */
type AsOnHost = (found: SocketFacts) => SocketFacts;

const loadCalls = () => import("./calls");

/** Looks at a registration socket and at the endpoint of its CSI driver, a path of the host below `hostRoot`. */
async function lookAtRegistration(
  path: string,
  timeoutMs: number,
  hostRoot: string,
  isAsOnHost: ReturnType<typeof leadsOnHost>,
  asOnHost: AsOnHost,
) {
  let answer: Awaited<ReturnType<typeof askRegistration>> | undefined;
  const tryReach = async (short: string, reached: string) => {
    // The registrar would take a connection that ends without a call for kubelet's.
    answer = await (await loadCalls()).askRegistration(reached, timeoutMs);
    return answer.kind === "answered" ? undefined : tryConnect(short);
  };
  const reachOwn = (own: string) => reachOnHost(hostRoot, own);
  const looking = { part: "directory", own: pathOnHost(hostRoot, path), reach: reachOwn, tryReach } as const;
  // The link's own path, not its target's.
  const found: SocketFacts = { ...(await lookAtSocket(path, looking)), path: pathHere(path) };
  const info = answer;
  const link = await linkAt(path);
  const isOurs = link === null || info?.kind === "answered";
  const socket: SocketFacts =
    isOurs || isAsOnHost(path, link)
      ? found
      : {
          ...{ kind: "unread", path: found.path },
          gap: { part: "directory", subject: path, why: { kind: "link", to: link } },
        };
  const plugin = answerIn(info);
  const told = plugin?.type === "CSIPlugin" ? plugin.endpoint : undefined;
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const reach = (at: string) => (told === "" ? reachOwn(at) : reachBelow(hostRoot, at));
  const isPath = told === "" || (told?.startsWith("/") && !told.includes("\0"));
  const seen = isPath && (await lookAtSocket(told || path, { reach, own: told || looking.own }));
  const there = seen ? (told === "" ? seen : asOnHost(seen)) : undefined;
  const isSilent = info?.kind === "failed" && isHidden(path) && socket.kind !== "dead";
  return {
    socket,
    /** Of one that is hidden and not dead, its registrar is known by this alone. */
    info: isSilent ? unreadAt("GetInfo", path, { ...info, kind: "call" }) : info,
    /** Where it leads, if it is a symbolic link. */
    link,
    /** What is at a CSI driver's endpoint; undefined without an absolute endpoint. */
    endpoint: there && { socket: there, identity: await (await loadCalls()).askIdentity(there, timeoutMs) },
  };
}
