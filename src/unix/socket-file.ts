import { lstatSync, renameSync, type Stats, unlinkSync } from "node:fs";
import { link, lstat, rename } from "node:fs/promises";
import type { Server, Socket } from "node:net";
import { dirname } from "node:path";
import { errnoOf, systemError } from "../base/errors";
import { pause } from "../base/pause";
import type { Logger } from "../logging/logger";
import { callFileSystem, mountAt, timedOut } from "./file-calls";
import { type HeldFile, holdFile, isHeldFile } from "./file-identity";
import { errorAt, type FileFound, findFile, findLink } from "./files";
import { isLocal } from "./mounts";
import { bindPrivately, dotPathIn, type PrivateSocket, removeQuietly, stopListening } from "./private-socket";
import {
  lookSteps,
  type PublishEnd,
  type PublishRules,
  type PublishStep,
  publishSteps,
  WITHDRAW_STEPS,
} from "./publish-steps";
import { refuseLongPath, socketUnusable } from "./socket-unusable";
import { isUnknown, judgeSocket, type SocketFound } from "./unix-socket";

/** Within this time kubelet's plugin watcher looks at a new file, even on a busy node. */
const KUBELET_LOOKS_WITHIN_MS = 100;
/** A registrar that starts gets this long until its socket is there and listens, also with few CPUs. */
const SETTLES_WITHIN_MS = 150;

export type SocketFile = ReturnType<typeof createSocketFile>;

/** One publication of a socket. */
export interface Publication {
  readonly path: string;
  /** Aborted when the publication is withdrawn, hidden or replaced. */
  readonly withdrawn: AbortSignal;
}

/** Our socket, where it is in place or hidden. */
interface Placed extends PrivateSocket {
  readonly path: string;
  readonly withdrawn: AbortController;
}

export interface PublishOptions extends PublishRules {
  readonly signal: AbortSignal;
  /** Whether our socket still belongs at this path; asked right before it becomes visible. @default yes */
  readonly isPlace?: () => Promise<boolean>;
}

/**
 * Makes the owner of one socket file; creates nothing before `publish`. It binds under a dot-name, gives the file its real
 * name when it already listens, and removes only what it knows as its own.
 */
export function createSocketFile(
  onConnection: (connection: Socket, publication: Publication) => void,
  log: Logger,
) {
  let ours: Placed | undefined;
  let isUnknownTold = false;

  const judge = (path: string): Promise<SocketFound> =>
    judgeSocket(path, (found) => ours?.path === path && isHeldFile(ours, found));

  const withdraw = async (): Promise<void> => {
    const placed = ours;
    if (placed === undefined) return;
    placed.withdrawn.abort();
    const deeds = { removeFile: () => removeIfSame(placed.path, placed), stopListening };
    for (const step of WITHDRAW_STEPS) await deeds[step](placed);
    ours = undefined;
  };

  return {
    get path(): string | undefined {
      return ours?.path;
    },
    get server(): Server | undefined {
      return ours?.server;
    },
    /** What is at the path, when no registrar that starts is about to change it. */
    look: async (path: string, signal: AbortSignal): Promise<SocketFound> => {
      const deeds = { judge: () => judge(path), settle: () => pause(SETTLES_WITHIN_MS, signal) };
      const found = await carryOut(lookSteps(), deeds);
      if (isUnknown(found) && !isUnknownTold)
        log.warn("Cannot look at socket, it counts as unchanged", {
          ...{ socketPath: path, found, err: await errorAt(path, lstat) },
        });
      isUnknownTold = isUnknown(found);
      return found;
    },
    /** The publication that a file belongs to, while we listen on it. */
    publicationOf: (file: Stats): Publication | undefined =>
      ours && isHeldFile(ours, file) ? { path: ours.path, withdrawn: ours.withdrawn.signal } : undefined,
    /** Whether the directory in which our socket was published is still there: not removed, not replaced. */
    hasDirectory: async (): Promise<boolean> => {
      if (ours === undefined) return false;
      const now = await findFile(dirname(ours.path));
      if (typeof now === "string") return now !== "gone";
      // A removed directory that is still mounted has no link left.
      return now.nlink > 0 && isHeldFile(ours.directory, now);
    },
    /**
     * Puts a fresh socket at `path`, in the place of ours at another path. Rejects with SOCKET_UNUSABLE, and when `signal` is
     * aborted, after which nothing more becomes visible; ours at another path may be withdrawn by then.
     */
    publish: async (path: string, options: PublishOptions): Promise<PublishEnd> => {
      const { end, placed } = await placeSocket(path, options, {
        onConnection,
        onError: (error) => log.error(error, "Cannot accept a connection", { socketPath: path }),
        judge: () => judge(path),
        withdrawOther: () => (ours?.path === path ? undefined : withdraw()),
      });
      if (placed === undefined) return end;
      const former = ours;
      ours = placed;
      former?.withdrawn.abort();
      if (former) stopListening(former).catch(() => {}); // It does not fail.
      return end;
    },
    /**
     * Takes our socket out of kubelet's sight: until the next publication it listens under a name that kubelet ignores, so
     * that probes and `registrar doctor` can ask why. Where that is not possible, withdraws it.
     */
    hide: async (): Promise<void> => {
      if (ours === undefined) return;
      const { path } = ours;
      const hidden = dotPathIn(dirname(path), "out");
      if (!(await linkIfFree(path, hidden))) return withdraw();
      if (!isHeldFile(ours, await findLink(hidden))) {
        await removeQuietly(hidden); // It is another's.
        return withdraw();
      }
      ours.withdrawn.abort();
      await removeIfSame(path, ours);
      ours = { ...ours, path: hidden };
    },
    /** Removes the file if it is still ours, then accepts no more; open connections stay open. A failure leaves it as it was. */
    withdraw,
    /** The same, and accepts no more even if the file could not be removed. */
    close: async (): Promise<void> => {
      try {
        await withdraw();
      } finally {
        if (ours) await stopListening(ours);
        ours = undefined;
      }
    },
  };
}

/** Carries out the steps of a publication. Returns its end, and our socket if it is in place now. */
async function placeSocket(
  path: string,
  { signal, isPlace = async () => true, ...rules }: PublishOptions,
  own: {
    readonly onConnection: (connection: Socket, publication: Publication) => void;
    readonly onError: (error: Error) => void;
    readonly judge: () => Promise<SocketFound>;
    readonly withdrawOther: () => unknown;
  },
): Promise<{ readonly end: PublishEnd; readonly placed?: Placed | undefined }> {
  refuseLongPath(path);
  const withdrawn = new AbortController();
  const publication: Publication = { path, withdrawn: withdrawn.signal };
  const dotPath = dotPathIn(dirname(path), "reg");
  let judged: Awaited<ReturnType<typeof holdFile>> = "gone";
  let bound: PrivateSocket | undefined;
  const letGo = () => typeof judged === "object" && judged.release();
  const deeds: Readonly<Record<PublishStep, () => unknown>> = {
    judge: async () => {
      letGo();
      judged = await holdFile(path);
      return own.judge();
    },
    settle: () => pause(SETTLES_WITHIN_MS, signal),
    bind: async () => {
      const onConnection = (connection: Socket) => own.onConnection(connection, publication);
      bound = await bindPrivately(dotPath, { onConnection, onError: own.onError });
    },
    isPlace,
    withdrawOther: own.withdrawOther,
    link: () => linkIfFree(dotPath, path),
    wait: () => pause(KUBELET_LOOKS_WITHIN_MS, signal),
    renameIfSame: () => changeIfSame(path, judged, () => renameSync(dotPath, path)),
    rename: () => callFileSystem(path, () => rename(dotPath, path)),
  };
  try {
    const end = await carryOut(publishSteps(rules), deeds, signal);
    if (end.kind === "blocked") throw systemError("ENOTSOCK");
    if (end.kind === "unknown") throw (await errorAt(path, lstat)) ?? systemError("EIO");
    if (end.kind !== "in-place" || bound === undefined) {
      if (bound) await stopListening(bound);
      return { end };
    }
    setTimeout(removeQuietly, KUBELET_LOOKS_WITHIN_MS, dotPath).unref();
    return { end, placed: { ...bound, path, withdrawn } };
  } catch (error) {
    if (bound) await stopListening(bound);
    throw signal.aborted ? error : socketUnusable(path, error, dotPath);
  } finally {
    letGo();
  }
}

/** Carries out each step until the end, or `signal`, before which nothing more is done. */
async function carryOut<Step extends string, End>(
  steps: Generator<Step, End, unknown>,
  deeds: Readonly<Record<Step, () => unknown>>,
  signal?: AbortSignal,
): Promise<End> {
  let step = steps.next();
  while (!step.done) {
    signal?.throwIfAborted();
    step = steps.next(await deeds[step.value]());
  }
  return step.value;
}

/**
 * Changes what is at a path if that is still this file, or nothing. No system call does so on a condition: the look comes
 * right before, on the main thread, so that no other process gets in between. First a call that cannot stop it.
 */
async function changeIfSame(
  path: string,
  known: HeldFile | Exclude<FileFound, Stats>,
  change: () => void,
): Promise<boolean> {
  const isSame = (now: FileFound) => (typeof known === "string" ? now === "gone" : isHeldFile(known, now));
  const now = await findLink(path);
  if (now === "hanging") throw timedOut(path); // It is not another's.
  if (now !== "unreadable" && !isSame(now)) return false;
  if (!isSame(lstatSync(path, { throwIfNoEntry: false }) ?? "gone")) return false;
  change();
  return true;
}

const removeIfSame = (path: string, file: HeldFile): Promise<unknown> =>
  changeIfSame(path, file, () => unlinkSync(path)).catch((error: unknown) => {
    // Another process may be clearing the directory at this moment.
    if (errnoOf(error) !== "ENOENT") throw error;
  });

/**
 * Whether the socket has this second name now: false if the name is taken, or the file system has no links. On a file system
 * of another machine or program, as FUSE, a link may be another inode, which leads to no socket: a new name only moves it.
 */
async function linkIfFree(from: string, to: string): Promise<boolean> {
  const mount = mountAt(to);
  if (mount !== undefined && !isLocal(mount)) return false;
  return callFileSystem(to, () => link(from, to)).then(
    () => true,
    () => false,
  );
}
