import { randomInt } from "node:crypto";
import { once } from "node:events";
import type { Stats } from "node:fs";
import { chmod, link, lstat, rename, rm, stat, unlink } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { umask } from "node:process";
import { attempt, errnoOf, messageOf, RegistrarError, systemError } from "../base/errors";
import { delay, pause } from "../base/pause";
import type { Logger } from "../logging/logger";
import { callFileSystem, timedOut } from "./file-calls";
import {
  errorAt,
  type FileFound,
  findFile,
  findLink,
  isSameDirectory,
  isSameFile,
  isSameSocket,
  listNames,
} from "./files";
import { type PublishRules, type PublishStep, publishSteps } from "./publish-steps";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "./socket-path";
import { judgeSocket, type SocketFound } from "./unix-socket";

/** Within this time kubelet's plugin watcher looks at a new file, even on a busy node. */
const KUBELET_LOOKS_WITHIN_MS = 100;
/** A dot-name lives for moments, and its socket listens after fewer. */
const LEFTOVER_AFTER_MS = 10_000;
/** Between two attempts to close a listener whose file system hangs. */
const CLOSE_AGAIN_MS = 1_000;
/** As long as the shortest `<driver>-reg.sock`, so that it fits wherever that fits. */
const DOT_NAME = /^\.(reg|out)-[0-9a-z]{5}$/;
/** Whether this is the name of a socket that its registrar took out of kubelet's sight. */
export const isHiddenSocket = (name: string): boolean => /^\.out-[0-9a-z]{5}$/.test(name);

/** A registrar that starts binds its socket before it listens; a tight CPU limit may delay it in between. */
const LISTENS_WITHIN_MS = 150;

export type SocketFile = ReturnType<typeof createSocketFile>;

/** One publication of a socket. */
export interface Publication {
  readonly path: string;
  /** Aborted when the publication is withdrawn, hidden or replaced. */
  readonly withdrawn: AbortSignal;
}

type Bound = Awaited<ReturnType<typeof bindDotSocket>>;

interface Published extends Bound {
  readonly path: string;
  readonly withdrawn: AbortController;
}

interface PublishOptions extends PublishRules {
  readonly signal?: AbortSignal;
}

/**
 * Makes the owner of one socket file; creates nothing before `publish`. It binds under a dot-name, which
 * kubelet's plugin watcher ignores, gives the file its real name when it already listens, and removes only its own inode:
 * a closed listener makes libuv unlink the name it was bound to, and that is the dot-name.
 */
export function createSocketFile(
  onConnection: (connection: Socket, publication: Publication) => void,
  parentLog: Logger,
) {
  const log = parentLog.named("socket-file");
  let published: Published | undefined;

  const judge = (path: string): Promise<SocketFound> =>
    judgeSocket(path, (found) => published?.path === path && isSameFile(found, published.stats));

  const look = async (path: string): Promise<SocketFound> => {
    const found = await judge(path);
    if (found !== "dead") return found;
    await delay(LISTENS_WITHIN_MS);
    return judge(path);
  };

  /** Accepts no more, and leaves the file behind like a killed process. Open connections stay open. */
  const abandon = async (): Promise<Published | undefined> => {
    const former = published;
    published = undefined;
    if (former) await retire(former);
    return former;
  };

  /** The same, but removes the file if it is still ours. */
  const withdraw = async (): Promise<void> => {
    const former = await abandon();
    try {
      if (former) await removeIfOurs(former);
    } catch (error) {
      published = former; // The next call tries again.
      throw error;
    }
  };

  return {
    get path(): string | undefined {
      return published?.path;
    },
    look,
    /** The publication that a file belongs to, while we listen on it. */
    publicationOf: (file: Stats): Publication | undefined => {
      if (!published?.server.listening || !isSameFile(file, published.stats)) return undefined;
      return { path: published.path, withdrawn: published.withdrawn.signal };
    },
    /** From now on the listener alone does not keep the process running. */
    unref: (): void => void published?.server.unref(),
    /** Whether the directory in which our socket was published is still there: not removed, not replaced. */
    hasDirectory: async (): Promise<boolean> => {
      if (published === undefined) return false;
      const now = await findFile(dirname(published.path));
      if (typeof now === "string") return now !== "gone";
      // A removed directory that is still mounted has no link left; its inode number may be used again.
      return now.nlink > 0 && isSameDirectory(published.directory, now);
    },
    /**
     * Puts a fresh socket at `path`. Resolves with what was there before: `taken` without `overLiving` means that ours is not
     * there. Rejects with SOCKET_UNUSABLE, and when `signal` is aborted, after which nothing more becomes visible; ours at
     * another path may be withdrawn by then.
     */
    publish: async (path: string, options: PublishOptions): Promise<SocketFound> => {
      if (!fitsSocketPath(path)) throw socketUnusable(path, systemError("ENAMETOOLONG", tooLong(path)));
      const { found, next } = await placeSocket(path, options, onConnection, {
        judge: () => (options.overLiving ? judge(path) : look(path)),
        withdrawOther: () => (published?.path === path ? undefined : withdraw()),
      });
      if (next) {
        next.server.on("error", (error) =>
          log.error(error, "Cannot accept a connection", { socketPath: path }),
        );
        if (published) retire(published).catch(() => {}); // It does not fail.
        published = next;
      }
      return found;
    },
    /**
     * Takes our socket out of kubelet's sight: until the next publication it listens under a name that kubelet ignores, so
     * that probes and `registrar doctor` can ask why.
     */
    hide: async (): Promise<void> => {
      if (published === undefined) return;
      const { path } = published;
      const hidden = join(dirname(path), `.out-${randomWord(5)}`);
      const isLinked = (await judge(path)) === "ours" && (await linkIfFree(path, hidden));
      if (!isLinked) return withdraw();
      published.withdrawn.abort();
      await removeIfOurs(published);
      published = { ...published, path: hidden };
    },
    withdraw,
    abandon,
  };
}

async function retire(former: Published): Promise<void> {
  former.withdrawn.abort();
  await closeDotSocket(former);
}

async function removeIfOurs({ path, stats }: Published): Promise<void> {
  const found = await findLink(path);
  if (typeof found === "string" || !isSameFile(found, stats)) return;
  await callFileSystem(path, () => unlink(path)).catch((error: unknown) => {
    // Another process may be clearing the directory at this moment.
    if (errnoOf(error) !== "ENOENT") throw error;
  });
}

/** Carries out the steps of a publication. Returns what was there before, and our socket if it is there now. */
async function placeSocket(
  path: string,
  { signal, ...rules }: PublishOptions,
  onConnection: (connection: Socket, publication: Publication) => void,
  own: Readonly<Record<"judge" | "withdrawOther", () => unknown>>,
) {
  const withdrawn = new AbortController();
  const publication: Publication = { path, withdrawn: withdrawn.signal };
  const server = createServer((connection) => onConnection(connection, publication));
  const dotPath = join(dirname(path), `.reg-${randomWord(5)}`);
  const there = await findLink(path);
  let bound: Bound | undefined;
  const deeds: Readonly<Record<PublishStep, () => unknown>> = {
    ...own,
    bind: async () => {
      bound = await bindDotSocket(server, dotPath);
    },
    link: async () => {
      const isLinked = await linkIfFree(dotPath, path);
      if (isLinked) setTimeout(removeQuietly, KUBELET_LOOKS_WITHIN_MS, dotPath).unref();
      return isLinked;
    },
    wait: () => delay(KUBELET_LOOKS_WITHIN_MS, undefined, signal && { signal }),
    isSame: () => isStillThere(path, there),
    rename: () => callFileSystem(path, () => rename(dotPath, path)),
  };
  const steps = publishSteps(rules);
  let step = steps.next();
  try {
    while (!step.done) {
      if (step.value !== "judge") signal?.throwIfAborted();
      step = steps.next(await deeds[step.value]());
    }
  } catch (error) {
    await closeDotSocket({ server, dotPath });
    throw signal?.aborted ? error : socketUnusable(path, error, dotPath);
  }
  const found = step.value;
  if (found === "hanging" || found === "blocked")
    throw socketUnusable(path, (await errorAt(path, lstat)) ?? systemError("ENOTSOCK"));
  if (bound === undefined || found !== "taken" || rules.overLiving)
    return { found, next: bound && { ...bound, path, withdrawn } };
  await closeDotSocket(bound);
  return { found };
}

/** Whether the file is still the one that was judged: of two registrars that find a dead socket, one may replace it. */
async function isStillThere(path: string, judged: FileFound): Promise<boolean> {
  const now = await findLink(path);
  if (now === "hanging") throw timedOut(path); // It is not another's.
  if (typeof now === "string" || typeof judged === "string") return now === "gone";
  return isSameSocket(judged, now);
}

/** Makes a server listen under a name that kubelet's plugin watcher ignores, open to its owner only (mode 0700). */
async function bindDotSocket(server: Server, dotPath: string) {
  const directoryPath = dirname(dotPath);
  // `bind` walks the path on the main thread: first a call that cannot stop it.
  const directory = await callFileSystem(directoryPath, () => stat(directoryPath));
  listenPrivately(server, dotPath);
  await once(server, "listening");
  await callFileSystem(dotPath, () => chmod(dotPath, 0o700));
  // Device and inode identify the file whatever its name.
  const stats = await callFileSystem(dotPath, () => lstat(dotPath));
  return { dotPath, server, stats, directory };
}

/**
 * Binds with mode 0700 from the first moment: the umask, which only the main thread may set, differs during this call only,
 * because `listen` binds before it returns. A private directory for the bind would be visible to kubelet: when it vanishes
 * while kubelet walks its directory, kubelet stops the walk for all plugins (`traversePluginDir` in
 * `pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go`).
 */
function listenPrivately(server: Server, path: string): void {
  const former = attempt(() => umask(0o077));
  try {
    server.listen({ path, exclusive: true });
  } finally {
    if (former !== undefined) umask(former);
  }
}

/** Whether the socket has this second name now; not if the name is taken, or the file system knows no links. */
const linkIfFree = (from: string, to: string): Promise<boolean> =>
  callFileSystem(to, () => link(from, to)).then(
    () => true,
    () => false,
  );

/** Stops listening, later if the file system hangs: libuv unlinks the name that was bound, on the main thread. */
async function closeDotSocket(bound: Pick<Bound, "server" | "dotPath">): Promise<void> {
  if ((await findLink(bound.dotPath)) !== "hanging") bound.server.close();
  else setTimeout(closeDotSocket, CLOSE_AGAIN_MS, bound).unref();
}

/** Removes dot-names that killed processes left behind: sockets that are dead, and still are after 10 s. Never rejects. */
export async function sweepDotSockets(
  directory: string,
  signal: AbortSignal,
  afterMs = LEFTOVER_AFTER_MS,
): Promise<undefined> {
  const before = await findDeadDotSockets(directory);
  if (before.size === 0 || !(await pause(afterMs, signal))) return;
  for (const [path, stats] of await findDeadDotSockets(directory)) {
    const former = before.get(path);
    if (former && isSameSocket(former, stats)) await removeQuietly(path);
  }
}

async function findDeadDotSockets(directory: string): Promise<ReadonlyMap<string, Stats>> {
  const dead = new Map<string, Stats>();
  for (const name of await listNames(directory)) {
    const path = join(directory, name);
    const found = DOT_NAME.test(name) && (await findLink(path));
    if (typeof found === "object" && (await judgeSocket(path)) === "dead") dead.set(path, found);
  }
  return dead;
}

export const randomWord = (length: number): string =>
  randomInt(36 ** length)
    .toString(36)
    .padStart(length, "0");

const removeQuietly = (path: string): Promise<void> =>
  callFileSystem(path, () => rm(path, { force: true })).catch(() => {});

/** The same text each time, without the dot-name: the log writes equal lines once a minute. */
function socketUnusable(path: string, error: unknown, dotPath = path): RegistrarError {
  const errno = errnoOf(error) ?? "";
  const reason = EXPLANATIONS[errno] ?? messageOf(error).replaceAll(dotPath, path);
  const text = `cannot listen on ${path}: ${errno ? `${errno}: ` : ""}${reason}`;
  return new RegistrarError("SOCKET_UNUSABLE", text, { cause: error });
}

const tooLong = (path: string) =>
  `a unix socket path has at most ${MAX_SOCKET_PATH_BYTES} bytes, this one has ${Buffer.byteLength(path)}: use a shorter directory`;

const NOT_PERMITTED =
  "permission denied: it must be a directory that this user can write to; in a pod that is root, with a fitting SELinux label";

const EXPLANATIONS: Readonly<Record<string, string>> = {
  ENOENT: "the directory does not exist: is it mounted?",
  ENOTDIR: "part of the path is not a directory",
  ENOTSOCK: "it exists but is not a socket: remove it, or use another path",
  EACCES: NOT_PERMITTED,
  EPERM: NOT_PERMITTED,
  EROFS: "the directory is mounted read-only",
  ENOSPC: "no space left on its file system",
  ETIMEDOUT: "its file system does not answer",
};
