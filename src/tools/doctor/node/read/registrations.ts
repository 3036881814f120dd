import type { Dirent } from "node:fs";
import { basename } from "node:path";
import { SOCKET_TAIL } from "../../../../registrar/model/socket-name";
import { isHiddenSocket } from "../../../../unix/private-socket";
import { tryConnect } from "../../../../unix/unix-socket";
import { grouped } from "../../findings/finding";
import type { askRegistration } from "./calls";
import { answerIn, type NodeGap, unansweredAt, unansweredIn, unreadSocket } from "./facts";
import { reachBelow, walk } from "./files";
import { lookAtSocket } from "./socket";

/** Registrars publish, hide and remove their sockets while they are read. */
const MOST_TRIES = 5;
/** More calls at once would run into their deadlines under a low CPU limit. */
const AT_ONCE = 16;

export type RegistrationFacts = Awaited<ReturnType<typeof lookAtRegistration>>;

/** Looks at what is on the registration sockets. If the directory changes meanwhile, it looks again. */
export async function lookAtRegistrations(directory: string, timeoutMs: number, hostRoot: string) {
  for (let tried = 1; ; tried++) {
    const before = await listRegistrations(directory);
    const looked = await inGroups(before.paths, (path) => lookAtRegistration(path, timeoutMs, hostRoot));
    const after = await listRegistrations(directory);
    const isSame = after.paths.join("\0") === before.paths.join("\0");
    if (!isSame && tried < MOST_TRIES) continue;
    const moving: NodeGap = { part: "directory", subject: directory, why: { kind: "moving" } };
    // A directory that could be listed once may not be the next time.
    const unlisted = [...before.gaps, ...after.gaps, ...(isSame ? [] : [moving])];
    return {
      // One hidden from kubelet tells only by its answer.
      registrations: looked.filter(({ socket, report }) => report !== undefined || !isHidden(socket.path)),
      unlisted: [...grouped(unlisted, ({ subject }) => subject).values()].map(([gap]) => gap),
      unasked: looked.flatMap(({ socket, info }) => [
        ...unreadSocket("directory", socket),
        ...unansweredIn(info),
      ]),
    };
  }
}

const isHidden = (path: string) => isHiddenSocket(basename(path));

/** Lists sockets and what is named like one, as kubelet's plugin watcher does, also in subdirectories; and those hidden from it. */
async function listRegistrations(directory: string) {
  const mayEnter = ({ name }: Dirent) => !name.startsWith(".");
  const isWanted = (entry: Dirent) =>
    isHidden(entry.name) || (mayEnter(entry) && (entry.isSocket() || entry.name.endsWith(SOCKET_TAIL)));
  const { paths, gaps } = await walk(directory, { part: "directory", isWanted, mayEnter });
  return { gaps, paths: paths.sort() };
}

const loadCalls = () => import("./calls");

/** Looks at a registration socket and at the endpoint of its CSI driver, a path of the host below `hostRoot`. */
async function lookAtRegistration(path: string, timeoutMs: number, hostRoot: string) {
  let answer: Awaited<ReturnType<typeof askRegistration>> | undefined;
  const tryReach = async () => {
    // The registrar would take a connection that ends without a call for kubelet's.
    answer = await (await loadCalls()).askRegistration(path, timeoutMs);
    return answer.info.kind === "answered" ? undefined : tryConnect(path);
  };
  const socket = await lookAtSocket(path, { tryReach });
  const { info, report } = answer ?? {};
  const plugin = answerIn(info);
  const told = plugin?.type === "CSIPlugin" ? plugin.endpoint : undefined;
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const reach = async () => (told === "" ? path : reachBelow(hostRoot, told ?? ""));
  const there =
    told === "" || told?.startsWith("/") ? await lookAtSocket(told || path, { reach }) : undefined;
  const isSilent = info?.kind === "failed" && isHidden(path) && socket.kind !== "dead";
  const silence = isSilent && unansweredAt(path, info);
  return {
    socket,
    /** Of one that is hidden and not dead, its registrar is known by this alone. */
    info: silence || info,
    /** Undefined for other registrars, such as the official one. */
    report,
    /** What is at a CSI driver's endpoint; undefined without an absolute endpoint. */
    endpoint: there && { socket: there, identity: await (await loadCalls()).askIdentity(there, timeoutMs) },
  };
}

export async function inGroups<One, Result>(items: readonly One[], look: (item: One) => Promise<Result>) {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(look))));
  return results;
}
