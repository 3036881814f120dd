import type { Cause } from "../../findings/causes";
import { tooLong } from "../../findings/words";
import type { Answer, SeenDriver } from "../read/facts";
import type { Facts } from "../read/gather";
import type { RegistrationFacts } from "../read/registrations";
import type { Ownership, SocketFacts, SocketKind } from "../read/socket";
import { callText, remedyForErrno, SEE_DRIVER, SEE_REGISTRAR, whyText } from "./gaps";

// What is wrong with a socket, and the causes that findings share.

export const DRIVER = "the CSI driver";
export const DRIVER_HANGS = `${SEE_DRIVER}: it hangs or is still starting`;
export const START_DRIVER = `start the driver, or see why it ended: ${SEE_DRIVER}`;
/** Of inotify (sysctl). */
export const LIMITS = "fs.inotify.max_user_instances or max_user_watches";
const KEEP_SOCKET =
  "remove the socket only if its driver is gone for good: kubelet then deregisters the driver";

export function ownershipText({ mode, uid, gid }: Ownership): string {
  return `mode ${(mode & 0o7777).toString(8).padStart(4, "0")}, owner ${uid}:${gid}`;
}

/** What is wrong with a socket, to follow its path. */
export function socketText(socket: SocketFacts): string {
  switch (socket.kind) {
    case "accepting":
      return "accepts connections";
    case "dead":
    case "stuck":
      return `does not accept a connection (${ownershipText(socket.ownership)}): ${socket.explanation}`;
    case "missing":
      return "is not there";
    case "unseen":
      return "is not there, nor is its directory";
    case "not-a-socket":
      return `is ${socket.fileType}, not a socket`;
    case "broken":
    case "unread":
      return `cannot be inspected: ${socket.errno}${socket.errno === "ETIMEDOUT" ? ", its file system does not answer" : ""}`;
    case "too-long":
      return tooLong(socket.bytes);
  }
}

/** Why a driver does not say its name; undefined if it does. */
export function silenceOf({ socket, identity }: Pick<SeenDriver, "socket" | "identity">): string | undefined {
  if (socket.kind !== "accepting") return `the driver's socket ${socketText(socket)}`;
  const failure = failureIn(identity);
  return failure && `the driver ${failure}`;
}

export function failureIn(answer: Answer<unknown> | undefined): string | undefined {
  if (answer?.kind === "failed") return callText(answer);
  return answer?.kind === "unread" ? whyText(answer.gap.why) : undefined;
}

/** The cause of everything that fails because a driver is down; undefined for a socket whose path may be wrong. */
export function downCause(socket: SocketFacts, path = socket.path): Cause | undefined {
  if (socket.kind === "missing") return { kind: "missing", path };
  return socket.kind === "dead" ? { kind: "down", inode: socket.inode } : undefined;
}

export const namelessCause = ({ inode }: SocketFacts): Cause | undefined =>
  inode === undefined ? undefined : { kind: "nameless", inode };

export const nodeInfoCause = (driver = ""): Cause => ({ kind: "node-info", driver });

export const duplicatesCause = (endpoint: string): Cause => ({ kind: "duplicates", endpoint });

/** What to do about a driver's socket; one that is not here is told by its errno. */
const REMEDIES: Readonly<Partial<Record<SocketKind, string>>> = {
  dead: START_DRIVER,
  missing: START_DRIVER,
  stuck: DRIVER_HANGS,
  unseen: "mount the directory here, or correct the path",
  "not-a-socket": "name the driver's socket itself",
  "too-long": "use a shorter path",
};

export function remedyFor(
  socket: SocketFacts,
  facts: Pick<Facts, "host">,
  path?: string,
): [fix: string, cause?: Cause | undefined] {
  const errno = "errno" in socket ? socket.errno : "";
  const cause = socket.kind === "stuck" ? namelessCause(socket) : downCause(socket, path);
  return [REMEDIES[socket.kind] ?? remedyForErrno(errno, facts), cause];
}

const HANGS = {
  state: "hanging",
  text: "does not answer GetInfo in time: its registrar hangs",
  fix: `${SEE_REGISTRAR}, and restart its container if it does not recover; ${KEEP_SOCKET}`,
};
const LINK = { state: "unknown", text: "is a symbolic link to nothing", fix: "remove it" };
const TROUBLES: Readonly<Partial<Record<SocketKind, typeof LINK>>> = {
  dead: {
    state: "dead",
    text: "was left behind by its registrar: no process listens on it",
    fix: `start its registrar again, which replaces it; ${KEEP_SOCKET}`,
  },
  stuck: HANGS,
  missing: LINK,
  unseen: LINK,
};

/** What is wrong with a registration socket that does not answer; `state` as in the table of drivers. */
export function troubleOf(
  { socket, info }: Pick<RegistrationFacts, "socket" | "info">,
  facts: Pick<Facts, "host">,
): typeof LINK {
  if (info?.kind === "failed" && info.code === "DeadlineExceeded") return HANGS;
  const fix = socket.kind === "not-a-socket" ? "remove it" : remedyFor(socket, facts)[0];
  const failure = failureIn(info);
  return (
    TROUBLES[socket.kind] ??
    (failure === undefined
      ? { state: "unknown", text: socketText(socket), fix }
      : { state: "unknown", text: failure, fix: SEE_REGISTRAR })
  );
}
