import { dirname } from "node:path";
import type { PluginInfo } from "../../../grpc/protos";
import { whyUnwanted } from "../../../registrar/node-wide/name-lists";
import { driverOfSocket } from "../../../registrar/socket/socket-name";
import type { DescriptorWait } from "../../../unix/descriptors";
import { isWithin } from "../../../unix/mounts";
import { tooLong } from "../../findings/words";
import {
  type Answer,
  answerIn,
  hasNoSocket,
  isDead,
  isStuck,
  type Ownership,
  type SeenDriver,
  type SocketFacts,
} from "../read/facts";
import type { Facts, RegistrationFacts, RunningRegistrar } from "../read/gather";

// Which registration socket belongs to which driver.

export function nameTold({ identity }: Pick<SeenDriver, "identity">): string | undefined {
  return answerIn(identity)?.name;
}

/** The name of the driver at `csiSocketPath`; undefined if it is unknown, and if no socket is given. */
export function targetName({ driver, target, registrations }: Facts): string | undefined {
  if (target.csiSocketPath === undefined) return undefined;
  const infos = registrations.flatMap(({ info }) => answerIn(info) ?? []);
  const said = infos.find(({ endpoint }) => endpoint === target.kubeletRegistrationPath);
  return (driver && nameTold(driver)) ?? said?.name;
}

/** Whether the doctor was called for this registration. Without a driver's socket it was called for all drivers'. */
export function isTargets(one: RegistrationFacts, facts: Facts): boolean {
  const info = answerIn(one.info);
  if (facts.target.csiSocketPath === undefined)
    return info ? info.type === "CSIPlugin" : driverLeftIn(one, facts) !== undefined;
  const name = targetName(facts);
  return name !== undefined && name === (info ? info.name : driverOfSocket(one.socket.path));
}

/**
 * The driver that has no registration socket but this one, which does not answer. If the registrar's process is gone, only a
 * driver that was found counts.
 */
export function driverLeftIn(one: RegistrationFacts, facts: Facts): string | undefined {
  const name = driverOfSocket(one.socket.path);
  if (name === undefined || one.info.kind === "answered") return undefined;
  const isAnswered = facts.registrations.some((other) => answerIn(other.info)?.name === name);
  const isThere =
    troubleOf(one, true, facts).state === "hanging" ||
    facts.found.some(
      (driver) =>
        nameTold(driver) === name && isNodeDriver(driver) && unwantedReason(driver, facts) === undefined,
    );
  return isThere && !isAnswered ? name : undefined;
}

export function answeringIn(facts: Facts) {
  return facts.registrations.flatMap((one) => {
    const info = answerIn(one.info);
    if (info?.type !== "CSIPlugin") return [];
    return [{ ...one, info, path: one.socket.path, isTargets: isTargets(one, facts) }];
  });
}

export type Answering = ReturnType<typeof answeringIn>[number];

/** Whether a node has no living driver and no registrar that answers, as far as that can be seen. */
export function isDeserted(facts: Facts): boolean {
  const { directory, found } = facts;
  const canSee = directory.kind === "folder" && directory.unlistable === undefined;
  return canSee && !found.some(isNodeDriver) && answeringIn(facts).length === 0;
}

export function allDrivers({ driver, found }: Facts): readonly SeenDriver[] {
  return driver === undefined ? found : [driver, ...found];
}

/** Those that have no registration socket, and may need one. */
export function unregisteredIn(facts: Facts): readonly SeenDriver[] {
  return allDrivers(facts).filter((driver) => isNodeDriver(driver) && !isRegistered(driver, facts));
}

/** Whether a socket is not certainly another plugin's, or that of a controller, which has no node service. */
export function isNodeDriver({ identity, nodeInfo }: SeenDriver): boolean {
  return ![identity, nodeInfo].some((answer) => answer.kind === "failed" && answer.code === "Unimplemented");
}

/** Why the registrar's name lists exclude a driver that is not registered; undefined for any other. */
export function unwantedReason(driver: SeenDriver, facts: Facts): string | undefined {
  const name = nameTold(driver);
  if (name === undefined || isRegistered(driver, facts)) return undefined;
  return whyUnwanted(name, driver.socket.path, facts.target.names);
}

export function waitingIn({ registrars, registrations }: Facts): readonly RunningRegistrar[] {
  const endpoints = registrations.map(({ info }) => answerIn(info)?.endpoint);
  return registrars.filter(
    ({ isNodeWide, endpoint, socket }) =>
      !isNodeWide && !endpoints.includes(endpoint) && (socket.kind === "missing" || isDead(socket)),
  );
}

/** The flag that kubelet's path needs, if the driver's socket was found below kubelet's root; else `advice`. */
export function pathFix(inode: string | undefined, { socketsOnHost }: Facts, advice: string): string {
  const path = inode && socketsOnHost.get(inode);
  return path ? `write --kubelet-registration-path=${path}` : advice;
}

/** The cause of everything that fails because the node-wide registrar has too few file descriptors. */
export const DESCRIPTORS_CAUSE = "descriptors";

/** The drivers for which a registrar of this node says that it has no file descriptors. */
export const descriptorWaitIn = ({ registrations }: Facts): DescriptorWait | undefined =>
  registrations.map(({ report }) => report?.descriptorWait).find((wait) => wait !== undefined);

/** Why a node-wide registrar may have left a driver out; empty if no such registrar is seen. */
export function isItLeftOut({ target, registrars, registrations }: Facts): string {
  const isPossible = target.pattern !== undefined || registrars.some((one) => one.isNodeWide);
  if (!isPossible) return "";
  // A registrar reports that it has too few on the sockets that it could make.
  const starved = registrations.some(({ report }) => report !== undefined)
    ? ""
    : "; has the node-wide registrar no file descriptors left? see its log or /statusz";
  return `${starved}; if the node-wide registrar is to leave it out, give its --allow-drivers or --deny-drivers here`;
}

export const isRegistered = (driver: SeenDriver, facts: Facts): boolean =>
  facts.registrations.some(({ info, endpoint }) => isDriverOf(answerIn(info), endpoint, driver, facts));

function isDriverOf(
  info: PluginInfo | undefined,
  endpoint: RegistrationFacts["endpoint"],
  driver: SeenDriver,
  { driver: own, target }: Facts,
): boolean {
  if (info === undefined) return false;
  // An endpoint that is seen says which of two drivers with one name it is.
  const inode = endpoint?.socket.inode;
  if (inode !== undefined) return inode === driver.socket.inode;
  if (driver.socket.inode !== undefined) return info.name === nameTold(driver);
  // Where no socket is left, its path says it.
  const told = driver === own && info.endpoint === target.kubeletRegistrationPath;
  return told || endpoint?.socket.path === driver.socket.path;
}

/** What is wrong with a published driver itself, as far as its socket is seen from here. */
export function driverTrouble(one: Answering, facts: Facts): string | undefined {
  const isHidden = ({ socket }: Pick<SeenDriver, "socket">) =>
    socket.kind === "missing" && !socket.folderInSight && !isInSight(socket.path, facts.directory);
  const { info, endpoint } = one;
  const own = allDrivers(facts).filter((driver) => isDriverOf(info, endpoint, driver, facts));
  const seen = [endpoint, ...own];
  const there = seen.find((place) => place !== undefined && !isHidden(place));
  if (there === undefined) return undefined;
  const { socket, identity } = there;
  if (socket.kind === "accepting")
    return identity.kind === "failed" ? `the driver ${failureText("GetPluginInfo", identity)}` : undefined;
  if (isDead(socket)) return "no process listens on the driver's socket";
  const isTold = isStuck(socket) || hasNoSocket(socket);
  return isTold ? `the driver's socket ${socketText(socket)}` : undefined;
}

/** Whether a path is seen as the host has it: a directory that is a mount of its own does not show what is beside it. */
export function isInSight(path: string, directory: Facts["directory"]): boolean {
  const root = dirname(directory.path);
  const isAlone =
    directory.kind !== "folder" || directory.place === undefined || directory.place.isMountPoint;
  return !isAlone && root !== "/" && isWithin(path, root);
}

export function onlyOneOf(name: string | undefined, { registrations }: Facts): string {
  const isPublished = registrations.some(
    ({ info, socket }) => (answerIn(info)?.name ?? driverOfSocket(socket.path)) === name,
  );
  return `only one of them can be registered${isPublished ? "" : "; no registrar has published it"}`;
}

/** The socket of another driver with the same name, as found or as kubelet gets it; undefined if there is only one. */
export function twinOf(driver: SeenDriver, facts: Facts): string | undefined {
  const { inode } = driver.socket;
  const name = nameTold(driver);
  const isEndpoint = facts.registrations.some(({ endpoint }) => inode && endpoint?.socket.inode === inode);
  if (name === undefined || isEndpoint) return undefined;
  const found = allDrivers(facts).find(
    (other) => other !== driver && nameTold(other) === name && isNodeDriver(other),
  );
  const registered = facts.registrations.find(
    ({ info, endpoint }) => answerIn(info)?.name === name && endpoint && nameTold(endpoint) === name,
  );
  return (found ?? registered?.endpoint)?.socket.path;
}

// What several checks say, and the causes that their findings share.

export const DRIVER = "the CSI driver";
export const SEE_DRIVER = "see the driver's log";
export const DRIVER_HANGS = `${SEE_DRIVER}: it hangs or is still starting`;
export const START_DRIVER = `start the driver, or see why it ended: ${SEE_DRIVER}`;
export const SEE_REGISTRAR = "see the log of its registrar";
export const RUN_AS_ROOT = "run registrar doctor as root";
const LEAVE_SOCKET = "do not remove the socket: kubelet would deregister the driver";

const REMEDIES: Readonly<Record<string, string>> = {
  ETIMEDOUT: "see what is mounted there, and whether its server runs",
  ELOOP: "correct the symbolic links: they lead in a circle",
  ENOTDIR: "correct the path: a part of it is not a folder",
  EMFILE: "raise the limit of open files: ulimit -n",
};
const isForbidden = (errno: string | undefined) => errno === "EACCES" || errno === "EPERM";

/** What to do about a path that cannot be looked at; `more` follows the advice for a missing permission. */
export function remedyForErrno(errno: string | undefined, { host }: Pick<Facts, "host">, more = ""): string {
  if (!isForbidden(errno))
    return REMEDIES[errno ?? ""] ?? "see the kernel's messages about that file system: dmesg";
  return host.uid === 0
    ? "see what denies it to root: SELinux (set seLinuxOptions.type: spc_t), or the file system that is mounted there"
    : `${RUN_AS_ROOT}${more}`;
}

export function ownershipText({ mode, uid, gid }: Ownership): string {
  return `mode ${mode.toString(8).padStart(4, "0")}, owner ${uid}:${gid}`;
}

/** What is wrong with a socket, to follow its path. */
export function socketText(socket: SocketFacts): string {
  switch (socket.kind) {
    case "accepting":
      return "accepts connections";
    case "not-accepting":
      return `does not accept a connection (${ownershipText(socket.ownership)}): ${socket.explanation}`;
    case "missing":
      return "is not there";
    case "not-a-socket":
      return `is ${socket.fileType}, not a socket`;
    case "out-of-reach":
      return `cannot be looked at: ${socket.errno}${socket.errno === "ETIMEDOUT" ? ", its file system does not answer" : ""}`;
    case "too-long":
      return tooLong(socket.bytes);
  }
}

export const waitingText = ({ pid, socket }: RunningRegistrar): string =>
  `(process ${pid}) waits for its driver: ${socket.path} ${socketText(socket)}`;

type Failed = Extract<Answer<unknown>, { readonly kind: "failed" }>;

export const failureText = (call: string, { code, message }: Failed): string =>
  code === "DeadlineExceeded"
    ? `does not answer ${call} in time: ${message}`
    : `fails ${call}: ${code}: ${message}`;

/** The cause of everything that fails because a driver is down; undefined for a socket whose path may be wrong. */
export function downCause(socket: SocketFacts, path = socket.path): string | undefined {
  if (socket.kind === "missing" && socket.folderInSight) return `missing ${path}`;
  return isDead(socket) ? `down ${socket.inode}` : undefined;
}

/** The cause of everything that fails because a socket's process does not tell its name. */
export const namelessCause = ({ inode }: SocketFacts): string | undefined => inode && `nameless ${inode}`;

export const nodeInfoCause = (name: string | undefined): string => `node-info ${name}`;

export const duplicatesCause = (endpoint: string): string => `duplicates ${endpoint}`;

/** What to do about a driver's socket that accepts no connection, and its cause. */
export const remedyFor = (socket: SocketFacts, path?: string): [fix: string, cause: string | undefined] =>
  isStuck(socket) ? [DRIVER_HANGS, namelessCause(socket)] : [START_DRIVER, downCause(socket, path)];

interface Trouble {
  /** As the table of drivers has it. */
  readonly state: "dead" | "hanging" | "unknown";
  readonly text: string;
  readonly fix: string;
  /** Why the socket was not judged: this user lacks the permission, or the file cannot be read. */
  readonly unseen?: "forbidden" | "unreachable" | undefined;
}

/** Judges a registration socket that does not answer. `isDrivers`: it is the only one of a driver that is there. */
export function troubleOf(
  { socket, info }: RegistrationFacts,
  isDrivers: boolean,
  facts: Pick<Facts, "host">,
): Trouble {
  const owner = `the registrar of ${driverOfSocket(socket.path)}`;
  if (socket.kind === "not-a-socket") {
    const text = `is ${socket.fileType} in the place of a socket: the registrar cannot use it`;
    return { state: "unknown", text, fix: "remove it" };
  }
  if (isDead(socket)) {
    const [text, fix] = isDrivers
      ? [
          `was left behind by ${owner}: no process listens on it`,
          `start it again: it replaces the socket; its pod and its log say why it ended; ${LEAVE_SOCKET}`,
        ]
      : [
          "was left behind: no process listens on it, and kubelet tries it again and again",
          "remove it if its driver is gone for good",
        ];
    return { state: "dead", text, fix };
  }
  const isFailed = info.kind === "failed" && info.code !== "DeadlineExceeded";
  if (isStuck(socket) || (socket.kind === "accepting" && !isFailed)) {
    const text = "does not answer GetInfo in time";
    if (!isDrivers) return { state: "hanging", text, fix: SEE_REGISTRAR };
    const fix = `${SEE_REGISTRAR}, and restart its container if it does not recover; ${LEAVE_SOCKET}`;
    return { state: "hanging", text: `${text}, as kubelet asks it to: ${owner} hangs`, fix };
  }
  if (socket.kind === "accepting")
    return { state: "unknown", text: isFailed ? failureText("GetInfo", info) : "", fix: SEE_REGISTRAR };
  if (socket.kind === "missing") {
    const text = "is a symbolic link to a file that is not there: kubelet cannot use it";
    return { state: "unknown", text, fix: "remove it" };
  }
  const text = socketText(socket);
  if (socket.kind === "too-long")
    return { state: "unknown", text, fix: "kubelet needs a socket at a short path" };
  const unseen = isForbidden(socket.errno) ? "forbidden" : "unreachable";
  return { state: "unknown", text, fix: remedyForErrno(socket.errno, facts), unseen };
}
