import { driverOfSocket } from "../../registrar/socket/socket-name";
import type { RegistrationFacts, RegistrationReport } from "./facts";
import { isStuck, RUN_AS_ROOT, SEE_REGISTRAR, socketText } from "./words";

/** How one registration socket stands with kubelet. */
export type Standing = { readonly path: string } & (
  | {
      readonly kind: "answering";
      readonly name: string;
      /** Undefined where the registrar tells nothing about kubelet, as the official one. */
      readonly report: RegistrationReport | undefined;
    }
  | (Trouble & { readonly kind: "broken" })
);

/** What is wrong with a registration socket, and what to do. */
interface Trouble {
  /** As the table of drivers has it; undefined where the socket tells of no driver. */
  readonly state: "dead" | "hanging" | "unknown" | undefined;
  readonly text: string;
  readonly fix: string;
  /** Why it is unknown: this user lacks the permission, or the file cannot be read. */
  readonly unseen?: "forbidden" | "unreachable";
}

const LEAVE_SOCKET = "do not remove the socket: kubelet would deregister the driver";

/** `isDrivers`: a driver that is there has no other registration socket than this one. */
export function standingOf(one: RegistrationFacts, isDrivers: boolean): Standing {
  const { socket, info, report } = one;
  const { path } = socket;
  if (socket.kind === "accepting" && info.kind === "answered")
    return { kind: "answering", path, name: info.value.name, report };
  return { kind: "broken", path, ...troubleOf(one, isDrivers) };
}

function troubleOf({ socket, info }: RegistrationFacts, isDrivers: boolean): Trouble {
  const owner = `the registrar of ${driverOfSocket(socket.path)}`;
  if (socket.kind === "not-a-socket") {
    const text = `is ${socket.fileType} in the place of a socket: the registrar cannot use it`;
    return { state: undefined, text, fix: "remove it" };
  }
  if (socket.kind === "not-accepting" && socket.errno === "ECONNREFUSED")
    return isDrivers
      ? {
          state: "dead",
          text: `was left behind by ${owner}: nobody listens on it`,
          fix: `start it again: it replaces the socket; its pod and its log tell why it ended; ${LEAVE_SOCKET}`,
        }
      : {
          state: "dead",
          text: "was left behind: nobody listens on it, and kubelet tries it again and again",
          fix: "remove it if its driver is gone for good",
        };
  const isSilent =
    socket.kind === "accepting" && (info.kind !== "failed" || info.code === "DeadlineExceeded");
  if (isStuck(socket) || isSilent)
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
  const isForbidden = "errno" in socket && socket.errno === "EACCES";
  return {
    state: "unknown",
    text: `cannot be reached: ${socketText(socket)}`,
    fix: isForbidden ? RUN_AS_ROOT : "what is no plain short path here is none for kubelet",
    unseen: isForbidden ? "forbidden" : "unreachable",
  };
}
