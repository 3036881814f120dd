import type { Dirent } from "node:fs";
import { join } from "node:path";
import { SOCKET_TAIL } from "../../../registrar/socket/socket-name";
import { tryConnect } from "../../../unix/unix-socket";
import { askIdentity, askRegistration } from "./calls";
import type { RegistrationFacts } from "./facts";
import { lookAtSocket } from "./socket";
import { walk } from "./walk";

/** Lists sockets and what is named like one, as kubelet's plugin watcher does: also in subfolders, no hidden names. */
export async function listRegistrations(directory: string) {
  const isHidden = ({ name }: Dirent) => name.startsWith(".");
  const isWanted = (entry: Dirent) =>
    !isHidden(entry) && (entry.isSocket() || entry.name.endsWith(SOCKET_TAIL));
  const { paths, ...rest } = await walk(directory, isWanted, (entry) => !isHidden(entry));
  return { ...rest, paths: paths.sort() };
}

/** Looks at a registration socket and at the endpoint of its CSI driver, a path of the host below `hostRoot`. */
export async function lookAtRegistration(
  path: string,
  timeoutMs: number,
  hostRoot: string,
): Promise<RegistrationFacts> {
  const notAsked = { info: { kind: "not-asked" }, report: undefined, endpoint: undefined } as const;
  let answer: Omit<RegistrationFacts, "socket"> = notAsked;
  const socket = await lookAtSocket(path, async () => {
    // The registrar would take a connection that ends without a call for kubelet's.
    answer = { ...notAsked, ...(await askRegistration(path, timeoutMs)) };
    return answer.info.kind === "answered" ? undefined : tryConnect(path);
  });
  if (socket.kind !== "accepting") return { socket, ...notAsked };
  const { info } = answer;
  if (info.kind !== "answered" || info.value.type !== "CSIPlugin") return { socket, ...answer };
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const told = info.value.endpoint === "" ? path : info.value.endpoint;
  if (!told.startsWith("/")) return { socket, ...answer };
  const there = await lookAtSocket(told === path ? path : join(hostRoot, told));
  const identity = await askIdentity(there, timeoutMs);
  return { socket, ...answer, endpoint: { socket: there, identity } };
}
