import { driverOfSocket } from "../../../registrar/socket/socket-name";
import { isDead, isStuck, type RegistrationFacts } from "../read/facts";
import { RUN_AS_ROOT, SEE_REGISTRAR, socketText } from "./words";

interface Trouble {
  /** As the table of drivers has it. */
  readonly state: "dead" | "hanging" | "unknown";
  readonly text: string;
  readonly fix: string;
  /** Why the socket was not judged: this user lacks the permission, or the file cannot be read. */
  readonly unseen?: "forbidden" | "unreachable";
}

const LEAVE_SOCKET = "do not remove the socket: kubelet would deregister the driver";

/** Judges a registration socket that does not answer. `isDrivers`: it is the only one of a driver that is there. */
export function troubleOf({ socket, info }: RegistrationFacts, isDrivers: boolean): Trouble {
  const owner = `the registrar of ${driverOfSocket(socket.path)}`;
  if (socket.kind === "not-a-socket") {
    const text = `is ${socket.fileType} in the place of a socket: the registrar cannot use it`;
    return { state: "unknown", text, fix: "remove it" };
  }
  if (isDead(socket))
    return isDrivers
      ? {
          state: "dead",
          text: `was left behind by ${owner}: no process listens on it`,
          fix: `start it again: it replaces the socket; its pod and its log tell why it ended; ${LEAVE_SOCKET}`,
        }
      : {
          state: "dead",
          text: "was left behind: no process listens on it, and kubelet tries it again and again",
          fix: "remove it if its driver is gone for good",
        };
  const isFailed = info.kind === "failed" && info.code !== "DeadlineExceeded";
  if (isStuck(socket) || (socket.kind === "accepting" && !isFailed))
    return isDrivers
      ? {
          state: "hanging",
          text: `does not answer GetInfo in time, as kubelet asks it to: ${owner} hangs`,
          fix: `${SEE_REGISTRAR}, and restart its container if that stays so; ${LEAVE_SOCKET}`,
        }
      : { state: "hanging", text: "does not answer GetInfo in time", fix: SEE_REGISTRAR };
  if (socket.kind === "accepting") {
    const why = info.kind === "failed" ? `${info.code}: ${info.message}` : "";
    return { state: "unknown", text: `fails GetInfo: ${why}`, fix: SEE_REGISTRAR };
  }
  const text = socketText(socket);
  return socket.errno === "EACCES"
    ? { state: "unknown", text, fix: RUN_AS_ROOT, unseen: "forbidden" }
    : { state: "unknown", text, fix: "kubelet needs a socket at a short path", unseen: "unreachable" };
}
