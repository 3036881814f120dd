import { driverOfSocket } from "../registrar/registration/alias";
import { MAX_SOCKET_PATH_BYTES } from "../sockets/socket-path";
import type { LiteralVariable } from "./deployment";
import type { Ownership, SocketFacts } from "./facts";

// Words that several checks have in common.

export const DRIVER = "the CSI driver";
export const SEE_DRIVER = "see the driver's log";
export const DRIVER_HANGS = `${SEE_DRIVER}: it hangs or is still starting`;
export const SEE_REGISTRAR = "see the log of its registrar";
export const IS_IT_DENIED = "is it denied? give --deny-drivers";
const LEAVE_SOCKET = "do not remove the socket: kubelet would deregister the driver";
/** A doctor who may not look is not the registrar: its user is another matter. */
export const RUN_AS_ROOT = "run registrar doctor as root";
export const START_DRIVER = `start the driver, or see why it ended: ${SEE_DRIVER}`;

/** What is wrong with the registration socket of a driver whose registrar was killed, and what to do. */
export function registrarDead(path: string): readonly [text: string, fix: string] {
  return [
    `was left behind by the registrar of ${driverOfSocket(path)}: nobody listens on it`,
    `start it again: it replaces the socket; its pod and its log tell why it ended; ${LEAVE_SOCKET}`,
  ];
}

/** The same where the registrar is there, and answers nothing. */
export function registrarHangs(path: string): readonly [text: string, fix: string] {
  return [
    `does not answer GetInfo in time, as kubelet asks it to: the registrar of ${driverOfSocket(path)} hangs`,
    `${SEE_REGISTRAR}, and restart its container if that stays so; ${LEAVE_SOCKET}`,
  ];
}

/** What is wrong with a path of so many bytes. */
export function tooLong(bytes: number): string {
  return `has ${bytes} bytes, a unix socket path may have ${MAX_SOCKET_PATH_BYTES}`;
}

/** What to do about a variable that nothing fills in. */
export function fillIn({ name, isLate, meant }: LiteralVariable): string {
  if (isLate) return `put ${name} first in its env`;
  return meant === undefined ? `add ${name} to its env` : `did you mean $(${meant})?`;
}

/** `A and B`, `both`; `A, B and C`, `all`. */
export function together(names: readonly string[]): readonly [names: string, all: "both" | "all"] {
  const listed = [...names.slice(0, -2), names.slice(-2).join(" and ")].join(", ");
  return [listed, names.length === 2 ? "both" : "all"];
}

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

/** Stands for a socket on which nobody listens: whatever fails for that has one cause. */
export function downCause(socket: SocketFacts): string | undefined {
  const isDown = socket.kind === "not-accepting" && socket.errno === "ECONNREFUSED";
  return isDown && "inode" in socket ? `down ${socket.inode}` : undefined;
}

/** Stands for a socket whose owner does not tell its name: it hangs, or is no driver. */
export function namelessCause(socket: SocketFacts): string | undefined {
  return "inode" in socket ? `nameless ${socket.inode}` : undefined;
}

/** Whether its listen queue is full: somebody has it, and takes no connection. */
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
