import { grouped, unknown, unread, type Verdict } from "../../findings/finding";
import type { CallFailure, Gap, Why } from "../../findings/seen";
import type { NodePart } from "../read/facts";
import type { Facts } from "../read/gather";

// What could not be read, and what to do about it.

export const SEE_DRIVER = "see the driver's log";
export const SEE_REGISTRAR = "see the log of its registrar";
export const NO_METADATA = `${SEE_DRIVER}: perhaps it cannot reach its source of node metadata`;

export const RUN_AS_ROOT = "run registrar doctor as root";

/** What follows the subject of a gap of each part, before its reason; other reasons are whole sentences. */
const LACKS: Readonly<Record<string, string>> = {
  directory: "cannot be read: ",
  sockets: "cannot be inspected, so drivers there are not seen: ",
  processes: "cannot be inspected: ",
};
const WHOLE: readonly Why["kind"][] = ["mount", "cut", "moving", "call"];

/** By part, reason or errno. */
const REMEDIES: Readonly<Record<string, string>> = {
  ...{ GetInfo: SEE_REGISTRAR, GetPluginInfo: SEE_DRIVER, NodeGetInfo: NO_METADATA },
  mount: "put the driver's socket on the node's own disk",
  cut: "remove what is left of drivers that were uninstalled",
  moving: "look again: registrars publish and remove their sockets there",
  ETIMEDOUT: "see what is mounted there, and whether its server runs",
  ELOOP: "correct the symbolic links: they form a loop",
  ENOTDIR: "correct the path: a part of it is not a directory",
  EMFILE: "raise the limit of open files: ulimit -n",
};

/** The finding of each gap of a part. One check of the part says them; what depends on them is withheld. */
export function sayGaps(facts: Pick<Facts, "gaps" | "host">, part: NodePart): readonly Verdict[] {
  const own = facts.gaps.filter((gap) => gap.part === part);
  return [...grouped(own, ({ subject }) => subject).values()].map(([{ subject, why }]) =>
    (why.kind === "mount" ? unknown : unread)(subject, lackText(part, why), remedyOf(part, why, facts)),
  );
}

function remedyOf(part: NodePart, why: Why, facts: Pick<Facts, "host">): string {
  if (why.kind === "errno") return remedyForErrno(why.errno, facts);
  if (why.kind === "call")
    return `${REMEDIES[part]}${why.gaveUp ? "; --timeout gives it more time here" : ""}`;
  return REMEDIES[why.kind] ?? "report this fault of the program, with its version";
}

export function remedyForErrno(errno: string, { host }: Pick<Facts, "host">): string {
  if (errno !== "EACCES" && errno !== "EPERM")
    return REMEDIES[errno] ?? "see the kernel's messages about that file system: dmesg";
  return host.uid === 0
    ? "see what denies it to root: the right to trace (kubectl debug --profile=sysadmin), SELinux (seLinuxOptions.type: spc_t), or the file system"
    : RUN_AS_ROOT;
}

const lackText = (part: string, why: Why) => (WHOLE.includes(why.kind) ? "" : LACKS[part]) + whyText(why);

export const gapText = ({ part, subject, why }: Gap): string => `${subject} ${lackText(part, why)}`;

export function whyText(why: Why): string {
  switch (why.kind) {
    case "errno":
      return why.errno;
    case "mount":
      return `is a mount of ${why.fileSystem} and was not inspected: its server might hang`;
    case "cut":
      return `has ${why.there.toLocaleString("en")} sockets, of which ${why.read} were inspected`;
    case "moving":
      return "changed each time that it was read";
    case "call":
      return callText(why);
    case "fault":
      return why.error;
    default:
      return why.kind;
  }
}

export function callText({ call, code, message, gaveUp }: CallFailure): string {
  if (gaveUp !== undefined)
    return `did not answer ${call} within ${gaveUp.afterMs / 1000} s; ${gaveUp.who} waits ${gaveUp.waitsMs / 1000} s`;
  return code === "DeadlineExceeded"
    ? `does not answer ${call} in time: ${message}`
    : `fails ${call}: ${code}: ${message}`;
}
