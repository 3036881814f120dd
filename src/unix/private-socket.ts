import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmod, lstat, rm, stat } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { umask } from "node:process";
import { attempt } from "../base/errors";
import { pause } from "../base/pause";
import { callFileSystem } from "./file-calls";
import type { HeldFile } from "./file-identity";
import { findLink, listNames } from "./files";
import { judgeSocket } from "./unix-socket";

// Sockets under dot-names, which kubelet's plugin watcher ignores: ours before it is in place (`reg`) and while it is hidden
// (`out`), and that of a node-wide registrar for exec probes (`ask`).

/** As long as the shortest `<driver>-reg.sock`, so that it fits wherever that fits. */
const DOT_NAME = /^\.(reg|out|ask)-[0-9a-z]{5}$/;
/** A socket listens moments after it has its dot-name. */
const LEFTOVER_AFTER_MS = 10_000;
/** Between two attempts to close a listener whose file system hangs. */
const CLOSE_AGAIN_MS = 1_000;

/** What a socket with this name is for; undefined if it is no dot-name of ours. */
export const dotKindOf = (name: string): string | undefined => DOT_NAME.exec(name)?.[1];

/** A path in a directory, under a dot-name that no other socket gets. */
export const dotPathIn = (directory: string, kind: "reg" | "out" | "ask"): string =>
  join(directory, `.${kind}-${randomWord(5)}`);

/** A socket that we listen on, and its directory, which a file in it holds, too. */
export interface PrivateSocket extends HeldFile {
  readonly server: Server;
  /** Where it was bound; libuv unlinks this name when the server is closed. */
  readonly dotPath: string;
  readonly directory: HeldFile;
}

export interface ListenerCallbacks {
  readonly onConnection: (connection: Socket) => void;
  /** Gets the error of each connection that cannot be accepted. */
  readonly onError: (error: Error) => void;
}

/** Listens there, open to its owner only (mode 0700). Leaves nothing behind when it rejects. */
export async function bindPrivately(
  dotPath: string,
  { onConnection, onError }: ListenerCallbacks,
): Promise<PrivateSocket> {
  const directoryPath = dirname(dotPath);
  const server = createServer(onConnection);
  try {
    // `bind` walks the path on the main thread: first a call that cannot stop it.
    const directory = await callFileSystem(directoryPath, () => stat(directoryPath));
    listenAsOwner(server, dotPath);
    await once(server, "listening");
    server.on("error", onError);
    await callFileSystem(dotPath, () => chmod(dotPath, 0o700));
    const stats = await callFileSystem(dotPath, () => lstat(dotPath));
    const isHeld = () => server.listening;
    return { server, dotPath, stats, isHeld, directory: { stats: directory, isHeld } };
  } catch (error) {
    await stopListening({ server, dotPath });
    throw error;
  }
}

/**
 * Binds with mode 0700 from the first moment: the umask, which only the main thread may set, differs during this call only,
 * because `listen` binds before it returns. A private directory for the bind would be visible to kubelet: when it vanishes
 * while kubelet walks its directory, kubelet stops the walk for all plugins (`traversePluginDir` in
 * `pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go`).
 */
function listenAsOwner(server: Server, path: string): void {
  const former = attempt(() => umask(0o077));
  try {
    server.listen({ path, exclusive: true });
  } finally {
    if (former !== undefined) umask(former);
  }
}

/** Accepts no more, later if the file system hangs: libuv unlinks the name that was bound, on the main thread. */
export async function stopListening(bound: Pick<PrivateSocket, "server" | "dotPath">): Promise<void> {
  if ((await findLink(bound.dotPath)) !== "hanging") bound.server.close();
  else setTimeout(stopListening, CLOSE_AGAIN_MS, bound).unref();
}

/** Removes dot-names that killed processes left behind: sockets that are dead, and still are after 10 s. Never rejects. */
export async function sweepDotSockets(directory: string, signal: AbortSignal): Promise<undefined> {
  const before = await findDeadDotSockets(directory);
  if (before.length === 0 || !(await pause(LEFTOVER_AFTER_MS, signal))) return;
  // A name is never given again: what has it now had it then.
  for (const path of await findDeadDotSockets(directory))
    if (before.includes(path)) await removeQuietly(path);
}

async function findDeadDotSockets(directory: string): Promise<readonly string[]> {
  const dead: string[] = [];
  const names = await listNames(directory).catch(() => []); // They stay until the next start.
  for (const name of names.filter(dotKindOf)) {
    const path = join(directory, name);
    if ((await judgeSocket(path)) === "dead") dead.push(path);
  }
  return dead;
}

export const removeQuietly = (path: string): Promise<void> =>
  callFileSystem(path, () => rm(path)).catch(() => {});

export const randomWord = (length: number): string =>
  randomInt(36 ** length)
    .toString(36)
    .padStart(length, "0");
