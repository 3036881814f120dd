import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../base/errors";
import { SOCKET_TAIL } from "../../registrar/socket/socket-name";
import { tryConnect } from "../../unix/unix-socket";
import type { Questioner, RegistrationAnswer } from "./calls";
import type { RegistrationFacts } from "./facts";
import { lookAndReach, lookAtSocket } from "./socket-facts";

const NOT_ASKED: RegistrationAnswer = { info: { kind: "not-asked" }, report: undefined };

/**
 * Sockets and what is called like one, as kubelet's plugin watcher finds them: in subfolders too, no name with a dot
 * first.
 */
export function listRegistrations(directory: string): { readonly paths: string[]; readonly errno?: string } {
  try {
    const paths = readdirSync(directory, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith("."))
      .flatMap((entry) => {
        const path = join(directory, entry.name);
        if (entry.isSocket() || entry.name.endsWith(SOCKET_TAIL)) return [path];
        return entry.isDirectory() ? listRegistrations(path).paths : [];
      });
    return { paths: paths.sort() };
  } catch (error) {
    return { paths: [], errno: errnoOf(error) ?? "EIO" };
  }
}

/**
 * Looks at a registration socket, asks who is there and, of a CSI driver, whether it is where that says: a path of the
 * host, whose root is at `hostRoot` here.
 */
export async function lookAtRegistration(
  path: string,
  questioner: Questioner,
  hostRoot: string,
): Promise<RegistrationFacts> {
  let answer = NOT_ASKED;
  const socket = await lookAndReach(path, async () => {
    // Its registrar would take a connection that leaves without a call for kubelet's.
    answer = await questioner.askRegistration(path);
    return answer.info.kind === "answered" ? undefined : tryConnect(path);
  });
  const { info, report } = socket.kind === "accepting" ? answer : NOT_ASKED;
  const isCsi = info.kind === "answered" && info.value.type === "CSIPlugin";
  if (!isCsi) return { socket, info, report, endpoint: undefined };
  // Kubelet takes an empty endpoint for the registration socket itself (operation_generator.go).
  const told = info.value.endpoint === "" ? path : info.value.endpoint;
  if (!told.startsWith("/")) return { socket, info, report, endpoint: undefined };
  const there = await lookAtSocket(told === path ? path : join(hostRoot, told));
  const identity = await questioner.askIdentity(there);
  return { socket, info, report, endpoint: { socket: there, identity } };
}
