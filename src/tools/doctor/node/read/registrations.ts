import type { Dirent } from "node:fs";
import { SOCKET_TAIL } from "../../../../registrar/model/socket-name";
import { isHiddenSocket } from "../../../../unix/private-socket";
import { tryConnect } from "../../../../unix/unix-socket";
import type { askRegistration } from "./calls";
import { answerIn } from "./facts";
import { lookAtSocket, walk } from "./files";
import { reachBelow } from "./host-root";

/** Lists sockets and what is named like one, as kubelet's plugin watcher does, also in subdirectories; and those hidden from it. */
export async function listRegistrations(directory: string) {
  const isHidden = ({ name }: Dirent) => name.startsWith(".");
  const isWanted = (entry: Dirent) =>
    isHiddenSocket(entry.name) ||
    (!isHidden(entry) && (entry.isSocket() || entry.name.endsWith(SOCKET_TAIL)));
  const mayEnter = (entry: Dirent) => !isHidden(entry);
  const { paths, gaps } = await walk(directory, { part: "directory", isWanted, mayEnter });
  return { gaps, paths: paths.sort() };
}

const loadCalls = () => import("./calls");

/** Looks at a registration socket and at the endpoint of its CSI driver, a path of the host below `hostRoot`. */
export async function lookAtRegistration(path: string, timeoutMs: number, hostRoot: string) {
  let answer: Awaited<ReturnType<typeof askRegistration>> | undefined;
  const socket = await lookAtSocket(path, async () => {
    // The registrar would take a connection that ends without a call for kubelet's.
    answer = await (await loadCalls()).askRegistration(path, timeoutMs);
    return answer.info.kind === "answered" ? undefined : tryConnect(path);
  });
  const plugin = answerIn(answer?.info);
  const told = plugin?.type === "CSIPlugin" ? plugin.endpoint : undefined;
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const place = told === "" ? path : told?.startsWith("/") ? await reachBelow(hostRoot, told) : undefined;
  const there = place === undefined ? undefined : await lookAtSocket(place);
  return {
    socket,
    info: answer?.info,
    /** Undefined for other registrars, such as the official one. */
    report: answer?.report,
    /** What is at a CSI driver's endpoint; undefined without an absolute endpoint. */
    endpoint: there && { socket: there, identity: await (await loadCalls()).askIdentity(there, timeoutMs) },
  };
}
