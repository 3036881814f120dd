import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../errors";
import type { Questioner } from "./calls";
import type { RegistrationFacts } from "./facts";
import { lookAtSocket } from "./socket-facts";

/** Sockets and what is called like one, as kubelet's plugin watcher finds them: in subfolders too, no name with a dot first. */
export function listRegistrations(directory: string): { readonly paths: string[]; readonly errno?: string } {
  try {
    const paths = readdirSync(directory, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith("."))
      .flatMap((entry) => {
        const path = join(directory, entry.name);
        if (entry.isSocket() || entry.name.endsWith("-reg.sock")) return [path];
        return entry.isDirectory() ? listRegistrations(path).paths : [];
      });
    return { paths: paths.sort() };
  } catch (error) {
    return { paths: [], errno: errnoOf(error) ?? "EIO" };
  }
}

/** Looks at a registration socket, asks who is there and, of a CSI driver, whether it is where that says. */
export async function lookAtRegistration(path: string, questioner: Questioner): Promise<RegistrationFacts> {
  const socket = await lookAtSocket(path);
  const { info, state } = await questioner.askRegistration(socket);
  const isCsi = info.kind === "answered" && info.value.type === "CSIPlugin";
  if (!isCsi || !info.value.endpoint.startsWith("/")) return { socket, info, state, endpoint: undefined };
  const there = await lookAtSocket(info.value.endpoint);
  return { socket, info, state, endpoint: { socket: there, identity: await questioner.askIdentity(there) } };
}
