import {
  type BigIntStats,
  closeSync,
  constants,
  type FSWatcher,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  watch,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt, errnoOf, messageOf, RegistrarError } from "../../base/errors";
import { guardedCall } from "../../base/guarded-call";
import type { KubeletBehaviour } from "../../kubelet-rules/versions";
import type { Emit } from "./events";

/** Refers to a file without opening it: open(2). */
const O_PATH = 0o10000000;

export interface DesiredPlugin {
  readonly socketPath: string;
  /** Grows whenever a socket is created on the path: kubelet has a UUID for it, older ones a timestamp. */
  readonly generation: number;
}

interface SeenSocket extends DesiredPlugin {
  readonly file: HeldFile;
}

/** A file whose inode is not used again while it is held. */
interface HeldFile {
  readonly descriptor: number;
  readonly stats: BigIntStats;
}

/**
 * Keeps kubelet's desired state of world: the sockets in a directory, which it creates, and its sub-directories. Throws
 * SOCKET_UNUSABLE if the directory cannot be created or watched. Like kubelet, it does not notice when the directory itself is
 * deleted and created again, nor that a socket was renamed. A file that is renamed over a socket makes it disappear, which
 * kubelet does not notice: `fs.watch` cannot distinguish that from a removal.
 * Source: `pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go`.
 */
export function startPluginWatcher(
  pluginRegistrationPath: string,
  { scanFollowsLinks }: Pick<KubeletBehaviour, "scanFollowsLinks">,
  emit: Emit,
) {
  const seen = new Map<string, SeenSocket>();
  const watchers = new Map<string, FSWatcher>();
  const hiddenNames = new Set<string>();
  let generations = 0;

  const see = (socketPath: string) => {
    const before = seen.get(socketPath);
    const file = hold(socketPath);
    // Both events of a quick replacement are handled after it, and the second finds nothing new. A rename to another
    // name and back shows in the time of change.
    if (file === undefined || (before && isUnchanged(before.file.stats, file.stats))) return release(file);
    generations += 1;
    release(before?.file);
    seen.set(socketPath, { socketPath, generation: generations, file });
    emit({ kind: "socket-seen", socketPath, generation: generations, replaced: before !== undefined });
  };

  /** Whether it has a name that appeared in its place: a hidden one from before is another link, as a registrar makes. */
  const wasRenamed = ({ descriptor, stats: { ino } }: HeldFile) => {
    const links = [...hiddenNames].filter((name) => statOf(name)?.ino === ino);
    return fstatSync(descriptor).nlink > links.length;
  };

  const lose = (path: string) => {
    const before = seen.get(path);
    if (before && wasRenamed(before.file)) return;
    watchers.get(path)?.close();
    watchers.delete(path);
    hiddenNames.delete(path);
    release(before?.file);
    if (seen.delete(path)) emit({ kind: "socket-gone", socketPath: path });
  };

  const ignore = (path: string, because: "hidden" | "not-a-socket") => {
    if (because === "hidden") hiddenNames.add(path);
    emit({ kind: "file-ignored", path, because });
  };

  /** A scan also enters hidden directories. */
  const look = (path: string, isScan: boolean) => {
    const stats = statOf(path);
    if (stats === undefined) return lose(path);
    const isLinked = isLink(path);
    const isDirectory = stats.isDirectory() && !isLinked;
    if (isHidden(path) && !(isScan && isDirectory)) return ignore(path, "hidden");
    if (isDirectory) return guardedCall(() => scan(path), failed(path));
    if (isScan && isLinked && !scanFollowsLinks) return ignore(path, "not-a-socket");
    if (stats.isSocket()) return see(path);
    lose(path);
    ignore(path, "not-a-socket");
  };

  /** Watches first, then scans, so that nothing created in between is missed. */
  const scan = (directory: string): void => {
    watchDirectory(directory);
    for (const name of readdirSync(directory)) look(join(directory, name), true);
  };

  const failed = (folder: string) => (error: unknown) =>
    emit({ kind: "watch-failed", folder, error: messageOf(error) });

  const watchDirectory = (directory: string) => {
    watchers.get(directory)?.close();
    const watcher = watch(directory, { persistent: false }, (event, name) => {
      // `change` is a chmod; `rename` is everything that appears or disappears.
      if (event === "rename" && name !== null && watchers.get(directory) === watcher)
        look(join(directory, name), false);
    });
    watcher.on("error", failed(directory));
    watchers.set(directory, watcher);
  };

  const close = () => {
    for (const watcher of watchers.values()) watcher.close();
    for (const { file } of seen.values()) release(file);
    seen.clear();
  };

  try {
    makeDirectory(pluginRegistrationPath);
    scan(pluginRegistrationPath);
  } catch (cause) {
    close();
    throw cannotWatch(pluginRegistrationPath, cause);
  }
  return { desired: seen as ReadonlyMap<string, DesiredPlugin>, close };
}

function cannotWatch(path: string, cause: unknown): RegistrarError {
  const errno = errnoOf(cause);
  const fix =
    errno === "EMFILE"
      ? "this user has no inotify instance left: see fs.inotify.max_user_instances"
      : "it must be a directory that this user can write to";
  const text = `cannot watch the plugin directory ${path}: ${errno ?? messageOf(cause)}; ${fix}`;
  return new RegistrarError("SOCKET_UNUSABLE", text, { cause });
}

const isHidden = (path: string) => basename(path).startsWith(".");

/** Step by step: in /proc, where nothing can be made, Node's own `recursive` never returns. */
function makeDirectory(path: string): void {
  if (statOf(path)?.isDirectory()) return;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o755 });
}

function hold(path: string): HeldFile | undefined {
  return attempt(() => {
    const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
    return { descriptor, stats: fstatSync(descriptor, { bigint: true }) };
  });
}

function release(file: HeldFile | undefined): void {
  if (file !== undefined) closeSync(file.descriptor);
}

function isUnchanged(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && a.ctimeNs === b.ctimeNs;
}

const isLink = (path: string) => attempt(() => lstatSync(path))?.isSymbolicLink() ?? false;

/** Undefined if there is nothing, or nothing that we may read. */
function statOf(path: string): BigIntStats | undefined {
  return attempt(() => statSync(path, { bigint: true }));
}
