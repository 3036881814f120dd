import { problem, unread, type Verdict } from "../findings/finding";
import { tooLong } from "../rules/words";
import type { Ownership, SocketFacts } from "./facts";

// Words that several checks have in common.

export const DRIVER = "the CSI driver";
export const SEE_DRIVER = "see the driver's log";
export const DRIVER_HANGS = `${SEE_DRIVER}: it hangs or is still starting`;
export const SEE_REGISTRAR = "see the log of its registrar";
export const IS_IT_DENIED = "is it denied? give --deny-drivers";
/** A doctor who may not look is not the registrar: its user is another matter. */
export const RUN_AS_ROOT = "run registrar doctor as root";
export const START_DRIVER = `start the driver, or see why it ended: ${SEE_DRIVER}`;

/** `mode 0755, owner 0:0`. */
export function ownershipText({ mode, uid, gid }: Ownership): string {
  return `mode ${mode.toString(8).padStart(4, "0")}, owner ${uid}:${gid}`;
}

/** What is wrong with a socket, for a sentence that names its path. */
export function socketText(socket: Exclude<SocketFacts, { readonly kind: "accepting" }>): string {
  switch (socket.kind) {
    case "not-accepting":
      return socket.explanation;
    case "missing":
      return "it is not there";
    case "not-a-socket":
      return `it is ${socket.fileType}, not a socket`;
    case "out-of-reach":
      return socket.errno;
    case "too-long":
      return `it has ${socket.bytes} bytes, more than a unix socket path may have`;
    default:
      return socket satisfies never;
  }
}

/** The cause of everything that fails because a socket is dead. */
export function downCause(socket: SocketFacts): string | undefined {
  const isDown = socket.kind === "not-accepting" && socket.errno === "ECONNREFUSED";
  return isDown && "inode" in socket ? `down ${socket.inode}` : undefined;
}

/** Stands for a socket whose owner does not tell its name: it hangs, or is no driver. */
export function namelessCause(socket: SocketFacts): string | undefined {
  return "inode" in socket ? `nameless ${socket.inode}` : undefined;
}

/** Whether its listen queue is full: a process has it, and accepts no connection. */
export function isStuck(
  socket: SocketFacts,
): socket is Extract<SocketFacts, { readonly kind: "not-accepting" }> {
  return socket.kind === "not-accepting" && socket.errno === "EAGAIN";
}

/** What to do about a driver's socket that accepts no connection, and its cause. */
export function remedyFor(socket: SocketFacts): readonly [fix: string, cause: string | undefined] {
  return isStuck(socket) ? [DRIVER_HANGS, namelessCause(socket)] : [START_DRIVER, downCause(socket)];
}

/** Whether there is certainly no socket at a path. */
export function hasNoSocket({ kind }: SocketFacts): boolean {
  return kind === "missing" || kind === "not-a-socket";
}

/** Whether there is no driver at a path that may well be right: nobody listens there, or only the socket is missing. */
export function isDown(socket: SocketFacts): boolean {
  return downCause(socket) !== undefined || (socket.kind === "missing" && socket.folderInSight);
}

/** What the same state of a socket means for a flag that names it. */
export interface SocketWords {
  /** Before what is wrong with it: `is what kubelet is told; it `. */
  readonly lead: string;
  readonly missing: (folderInSight: boolean) => Verdict;
  readonly noSocketFix: string;
  readonly tooLongFix: string;
}

/** Judges a socket that accepts no connection. */
export function judgeClosed(
  socket: Exclude<SocketFacts, { readonly kind: "accepting" }>,
  { lead, missing, noSocketFix, tooLongFix }: SocketWords,
): Verdict {
  const { path } = socket;
  switch (socket.kind) {
    case "not-accepting": {
      const why = `(${ownershipText(socket.ownership)}): ${socket.explanation}`;
      return socket.errno === "EACCES"
        ? unread(
            path,
            `${lead}may not be connected to by this user ${why}`,
            `${RUN_AS_ROOT}; if it is root already, SELinux may be in the way: seLinuxOptions.type spc_t`,
          )
        : problem(path, `${lead}does not accept a connection ${why}`, ...remedyFor(socket));
    }
    case "missing":
      return missing(socket.folderInSight);
    case "not-a-socket":
      return problem(path, `is ${socket.fileType}, not a socket`, noSocketFix);
    case "out-of-reach":
      return unread(
        path,
        `cannot be looked at: ${socket.errno}`,
        `${RUN_AS_ROOT}, and check the folders above it`,
      );
    case "too-long":
      return problem(path, tooLong(socket.bytes), tooLongFix);
    default:
      return socket satisfies never;
  }
}
