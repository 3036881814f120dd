import { driverOfSocket } from "../../../registrar/socket/socket-name";
import { tooLong } from "../../rules/words";
import { type Answer, isDead, isStuck, type Ownership, type SocketFacts } from "../read/facts";
import type { RegistrationFacts, RunningRegistrar } from "../read/gather";

// What several checks say, and the causes that their findings share.

export const DRIVER = "the CSI driver";
export const SEE_DRIVER = "see the driver's log";
export const DRIVER_HANGS = `${SEE_DRIVER}: it hangs or is still starting`;
export const START_DRIVER = `start the driver, or see why it ended: ${SEE_DRIVER}`;
export const SEE_REGISTRAR = "see the log of its registrar";
export const RUN_AS_ROOT = "run registrar doctor as root";
const LEAVE_SOCKET = "do not remove the socket: kubelet would deregister the driver";

/** What to do about a path that cannot be looked at; `more` follows the advice for a missing permission. */
export const remedyForErrno = (errno = "", more = ""): string =>
  errno === "ETIMEDOUT" ? "see what is mounted there, and whether its server runs" : `${RUN_AS_ROOT}${more}`;

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

/** What a registrar waits for, by its process. */
export const waitingText = ({ pid, socket }: RunningRegistrar): string =>
  `(process ${pid}) waits for its driver: ${socket.path} ${socketText(socket)}`;

type Failed = Extract<Answer<unknown>, { readonly kind: "failed" }>;

/** What is wrong with an answer. */
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

/** The cause of everything that fails because kubelet refuses a driver for its answer to NodeGetInfo. */
export const nodeInfoCause = (name: string | undefined): string => `node-info ${name}`;

/** The cause of everything that says that a driver has several registrars. */
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
  readonly unseen?: "forbidden" | "unreachable";
}

/** Judges a registration socket that does not answer. `isDrivers`: it is the only one of a driver that is there. */
export function troubleOf({ socket, info }: RegistrationFacts, isDrivers: boolean): Trouble {
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
  const text = socketText(socket);
  return socket.errno === "EACCES"
    ? { state: "unknown", text, fix: RUN_AS_ROOT, unseen: "forbidden" }
    : { state: "unknown", text, fix: "kubelet needs a socket at a short path", unseen: "unreachable" };
}
