import { join } from "node:path";
import { isWithin } from "../../../../unix/mounts";
import type { Cause } from "../../findings/causes";
import { type Advice, check, skipped, unknown, unsure, type Verdict } from "../../findings/finding";
import { grouped } from "../../findings/grouped";
import type { Gap, SeenList, Why } from "../../findings/seen";
import { callText, OUR_FAULT, sayWhy } from "../../findings/why";
import { tooLong, writeFlag } from "../../findings/words";
import type { NodePart, Target } from "../read/facts";
import type { Facts, HostPath } from "../read/gather";
import type { Answered, DriverLook, RegistrationFound } from "../read/looks";
import type { PathHere } from "../read/paths";
import type { Ownership, SeenSocket } from "../read/socket";

// What is wrong with a socket or a call, and what could not be read: in words, with what to do, and with its cause.

export const DRIVER = "the CSI driver";
const SEE_DRIVER = "see the driver's log";
/** What to do, where several findings say so. */
export const ADVICE = {
  seeDriver: SEE_DRIVER,
  seeRegistrar: "see the log of its registrar",
  startDriver: `start the driver, or see why it ended: ${SEE_DRIVER}`,
  driverHangs: `${SEE_DRIVER}: it hangs, is slow or is still starting`,
  noMetadata: `${SEE_DRIVER}: perhaps it cannot reach its source of node metadata`,
} as const;
/** Of inotify (sysctl). */
export const LIMITS = "fs.inotify.max_user_instances or max_user_watches";

/** What to do, by the kind of a driver's socket, by a call, by why something could not be read, and by an errno. */
const REMEDIES: Readonly<Record<string, string>> = {
  "no-directory": "correct the path",
  ...{ dead: ADVICE.startDriver, missing: ADVICE.startDriver, stuck: ADVICE.driverHangs },
  unmounted: "mount the directory here, or correct the path",
  "not-a-socket": "name the driver's socket itself",
  "too-long": "use a shorter path",
  ...{ GetInfo: ADVICE.seeRegistrar, GetPluginInfo: SEE_DRIVER, NodeGetInfo: ADVICE.noMetadata },
  mount: "put the driver's socket on the node's own disk",
  link: "look at the host's own files: with --host-root=/host, under kubectl debug node",
  cut: "remove what is left of drivers that were uninstalled",
  object: "correct its arguments and its volumes, or use the doctor of its own version",
  deep: "have the driver's socket in a directory of its own in kubelet's plugins, or name it with --csi-address",
  aside: "if a driver has its socket there, name it with --csi-address",
  starved: "look again when the machine is less busy, or give the doctor more CPU",
  moving: "look again: registrars publish and remove their sockets there",
  ECONNRESET: "see the log of the process that listens there: it resets connections",
  ETIMEDOUT: "see what is mounted there, and whether its server runs",
  ELOOP: "correct the symbolic links: they form a loop",
  ENOTDIR: "correct the path: a part of it is not a directory",
  EILSEQ: "rename it: its name is not UTF-8, which no tool takes",
  ENAMETOOLONG:
    "from here that path has over 107 bytes: look from where it is shorter, as with --host-root=/host or in the registrar's container",
  EMFILE: "raise the limit of open files: ulimit -n",
};

/** A path that is not below `--host-root` may be meant as the host's. */
export const belowRoot = (flag: string, path: string, { hostRoot = "/" }: Target, advice: Advice): Advice =>
  isWithin(path, hostRoot)
    ? advice
    : { fix: "for a path of the host write", command: `--${flag}=${join(hostRoot, path)}` };

const SEE_KERNEL = "see the kernel's messages about that file system: dmesg";
export function remedyForErrno(errno: string, { host }: Pick<Facts, "host">): string {
  if (errno !== "EACCES" && errno !== "EPERM")
    return REMEDIES[errno] ?? (/^(?:E[A-Z0-9]+|errno \d+)$/.test(errno) ? SEE_KERNEL : OUR_FAULT);
  return host.uid === 0
    ? "see what denies it to root: the right to trace (kubectl debug --profile=sysadmin), SELinux (seLinuxOptions.type: spc_t), or the file system"
    : "run registrar doctor as root";
}

export function remedyFor(
  socket: SeenSocket,
  facts: Pick<Facts, "host">,
  path?: PathHere,
): [fix: string, cause?: Cause | undefined] {
  if ("errno" in socket) return [remedyForErrno(socket.errno, facts)];
  const fix = REMEDIES[socket.kind] ?? OUR_FAULT;
  return [fix, socket.kind === "stuck" ? CAUSES.nameless(socket) : CAUSES.down(socket, path ?? socket.path)];
}

/** What to do about a path that kubelet gets and that is wrong. */
export const fixOfPath = ({ fix, path }: Extract<HostPath, { readonly kind: "wrong" }>): Advice =>
  path === undefined ? fix : writeFlag("kubelet-registration-path", path);

export const ownershipText = ({ mode, uid, gid }: Ownership): string =>
  `mode ${(mode & 0o7777).toString(8).padStart(4, "0")}, owner ${uid}:${gid}`;

/** What is wrong with a socket, to follow its path. */
export function socketText(socket: SeenSocket<string>): string {
  if ("explanation" in socket)
    return `does not accept a connection (${ownershipText(socket.ownership)}): ${socket.explanation}`;
  if ("fileType" in socket)
    return `is ${socket.fileType}, not a ${socket.fileType.endsWith("socket") ? "stream " : ""}socket`;
  if ("bytes" in socket) return tooLong(socket.bytes);
  if ("errno" in socket) return unreadText(socket.errno);
  if (socket.kind === "accepting") return "accepts connections";
  return socket.kind === "missing" ? "is not there" : "is not there, nor is its directory";
}

const unreadText = (errno: string): string =>
  `cannot be inspected: ${errno}${errno === "ETIMEDOUT" ? ", its file system does not answer" : ""}`;

/** Why a socket could not be looked at, to follow its path. */
export const unseenText = ({ why }: Gap): string =>
  why.kind === "unmounted" ? sayWhy(why).text : unreadText(sayWhy(why).text);

/** Why a driver does not say its name, if it does not. */
export const silenceOf = ({ socket, identity }: Pick<DriverLook, "socket" | "identity">): SeenList<string> =>
  socket.at.items((there) =>
    there.kind === "accepting" ? identity.items(failureIn) : `the driver's socket ${socketText(there)}`,
  );

export const failureIn = (answer: Answered<unknown>): string | undefined =>
  answer.kind === "failed" ? `the driver ${callText(answer)}` : undefined;

/** The causes of several findings. */
export const CAUSES = {
  /** Of everything that fails because a driver is down; undefined for a socket whose path may be wrong. */
  down: (socket: SeenSocket<string>, path?: PathHere): Cause | undefined => {
    if (socket.kind === "missing") return path && { kind: "missing", path };
    return socket.kind === "dead" ? { kind: "down", inode: socket.inode } : undefined;
  },
  nameless: ({ inode }: SeenSocket): Cause | undefined =>
    inode === undefined ? undefined : { kind: "nameless", inode },
  nodeInfo: (driver = ""): Cause => ({ kind: "node-info", driver }),
  duplicates: (endpoint: string): Cause => ({ kind: "duplicates", endpoint }),
};

/** What is wrong with a registration socket that does not answer; `state` as in the table of drivers. */
export interface Trouble {
  readonly state: string;
  readonly text: string;
  readonly fix: Advice;
}
const trouble = (state: string, text: string, fix: string) => ({ state, text, fix });
const KEEP_SOCKET =
  "remove the socket only if its driver is gone for good: kubelet then deregisters the driver";
export const HANGING = "hanging";
const RESTART = `${ADVICE.seeRegistrar}, and restart its container if it does not recover; ${KEEP_SOCKET}`;
export const DEAD = trouble(
  "dead",
  "was left behind by its registrar: no process listens on it",
  `start its registrar again, which replaces it; ${KEEP_SOCKET}`,
);
/** Of one under a name that the official registrar does not know, beside another socket of its driver. */
export const REMOVE_ALIAS =
  "remove it: kubelet may have the driver by this socket, and then refuses every other one of that driver as long as it is there";
/** Of one whose driver's directory has a driver with another name. */
export const removeOld = (name: string) => `remove it: the driver in that directory is called ${name} now`;
/** One registrar may have served many drivers. */
export const RESTART_REGISTRARS = `start their registrars again, which replace them: one, if it is node-wide; ${KEEP_SOCKET}`;

export function troubleOf(
  { socket, failure, link }: RegistrationFound,
  facts: Pick<Facts, "host">,
): typeof DEAD {
  if (failure?.late) return trouble(HANGING, callText(failure), RESTART);
  if (socket.kind === "stuck") return trouble(HANGING, socketText(socket), RESTART);
  // No registrar makes one, and ours takes its name only when it is gone.
  if (link !== null)
    return trouble("unpublished", `is a symbolic link to ${link}, where no registrar answers`, "remove it");
  if (socket.kind === "dead") return DEAD;
  if (failure === undefined) {
    const fix = "fileType" in socket ? "remove it" : remedyFor(socket, facts)[0];
    return trouble("unknown", socketText(socket), fix);
  }
  return trouble("unknown", callText(failure), ADVICE.seeRegistrar);
}

const UNASKED = "cannot be asked: ";
/** Of each part: the check under whose code its gaps are reported, and what follows their subject before a bare reason. */
const PARTS = {
  directory: ["CSI008", "registration-directory", "cannot be read: "],
  sockets: ["CSI020", "drivers-found", "cannot be inspected, so drivers there are not seen: "],
  processes: ["CSI024", "registrars", "cannot be inspected: "],
  GetInfo: ["CSI015", "registration", UNASKED],
  GetPluginInfo: ["CSI003", "driver-identity", UNASKED],
  NodeGetInfo: ["CSI006", "driver-node-info", UNASKED],
} satisfies Readonly<Record<NodePart, Said>>;
type Said = readonly [code: string, name: string, lack: string];
/** Other reasons are whole sentences. */
const BARE: readonly Why["kind"][] = ["flaw", "errno", "beyond", "list", "object", "unlike", "fault"];

export function remedyForGap({ part, why }: Gap, facts: Pick<Facts, "host">): string {
  if (why.kind === "errno") return remedyForErrno(why.errno, facts);
  const isOfCall = why.kind === "call" || why.kind === "object";
  const remedy = (isOfCall ? REMEDIES[part] : undefined) ?? REMEDIES[why.kind] ?? OUR_FAULT;
  return why.kind === "call" && why.late && why.late.afterMs < why.late.waitsMs
    ? `${remedy}; --timeout gives it more time here`
    : remedy;
}

/** The finding of each gap of a part; what depends on them is withheld. */
function sayGaps(facts: Pick<Facts, "gaps" | "host" | "target">, part: string): readonly Verdict[] {
  const own = facts.gaps.filter((gap) => gap.part === part);
  return [...grouped(own, ({ subject }) => subject).values()].map(([gap]) => {
    const { subject, why } = gap;
    const fix = remedyForGap(gap, facts);
    // Only what depends on it makes the report partial for one who names his driver.
    const isNamed = facts.target.csiSocketPath !== undefined;
    const isUsual = part === "sockets" && isNamed && (why.kind === "mount" || why.kind === "deep");
    return (isUsual || why.kind === "aside" ? skipped : unknown)(subject, predicateOf(gap), fix);
  });
}

export const gapChecks = Object.entries<Said>(PARTS).map(([part, [code, name]]) =>
  check(code, name, (facts: Pick<Facts, "gaps" | "host" | "target">) => sayGaps(facts, part)),
);

/** What would be a problem on a node without other drivers, where that could not be read. */
export const unsureOfOthers = (verdict: Verdict) =>
  unsure(verdict, "; whether this node has another driver could not be read");

const parts: Readonly<Record<string, Said>> = PARTS;
export function predicateOf({ part, why }: Gap): string {
  const [, , lack = ""] = parts[part] ?? [];
  return (BARE.includes(why.kind) ? lack : "") + sayWhy(why).text;
}

export const gapText = (gap: Gap): string => `${gap.subject} ${predicateOf(gap)}`;
