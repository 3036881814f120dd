import type { FSWatcher, Stats } from "node:fs";
import { basename, join } from "node:path";
import { isPattern, matchSegment, type PathPattern, segmentsOf } from "../../host-path/path-pattern";
import type { Logger } from "../../logging/logger";
import { isShortage } from "../../unix/descriptors";
import { mountAt } from "../../unix/file-calls";
import {
  type FileFound,
  findFile,
  isFoundDirectory,
  isSameFile,
  isSameSocket,
  listNames,
} from "../../unix/files";
import { canHang, isWithin } from "../../unix/mounts";
import { watchDirectory, watchPath } from "../../unix/path-watch";

interface DiscoveryObserver {
  /** A socket fits the pattern, whose stars stand for `captures`. */
  onFound(path: string, captures: readonly string[]): void;
  /** The socket is gone: alone, as in a restart of its driver, or with its directory, which may also go later. */
  onGone(path: string, what: "socket" | "directory"): void;
}

/** In case inotify misses an event. */
const LOOK_EVERY_MS = 30_000;
/** After a directory could not be read, because there were no file descriptors. */
const LOOK_WHEN_SHORT_MS = 2_000;

/** What fits so far: a directory whose entries are watched, or a socket. */
interface Entry {
  /** Undefined: the socket is gone, and its directory may go later. */
  readonly stats: Stats | undefined;
  rescan(): Promise<void>;
  close(what: "socket" | "directory"): void;
}

/**
 * Finds the sockets that fit `pattern`, now and as they come, until `signal` is aborted. It watches each directory on the
 * way by inotify, and looks only at the name in an event: the cost grows with the changes, not with the drivers.
 *
 * Below the directories without a star it leaves out the mounts that can hang.
 */
export async function discover(
  pattern: PathPattern,
  { log: parentLog, signal }: { readonly log: Logger; readonly signal: AbortSignal },
  observer: DiscoveryObserver,
): Promise<void> {
  const log = parentLog.named("discovery");
  const { segments } = pattern;
  const firstStar = segments.findIndex(isPattern);
  const rootDepth = firstStar === -1 ? segments.length - 1 : firstStar;
  const rootPath = `/${segments.slice(0, rootDepth).join("/")}`;

  let hasFound = false;
  const leftOut = new Set<string>();
  const look = async (path: string): Promise<FileFound> => {
    const mount = mountAt(path);
    if (mount === undefined || !canHang(mount) || isWithin(rootPath, mount.mountPoint)) return findFile(path);
    const { mountPoint, fileSystem } = mount;
    if (!leftOut.has(mountPoint))
      log.warn("File system on this mount can hang, drivers below it are left out", {
        mountPoint,
        fileSystem,
      });
    leftOut.add(mountPoint);
    return "gone";
  };

  const rootWatch = await watchPath(rootPath, log);
  let whenShort: NodeJS.Timeout | undefined;
  const lookAgainWhenShort = (error: unknown): void => {
    if (!isShortage(error)) return;
    clearTimeout(whenShort);
    whenShort = setTimeout(rootWatch.hint, LOOK_WHEN_SHORT_MS);
  };

  // One look after another: what an event leads to builds on what the one before it found.
  let turn = Promise.resolve();
  const inTurn = (act: () => Promise<void>): Promise<void> => {
    turn = turn.then(act).catch((error: unknown) => log.error(error, "Cannot look for CSI drivers"));
    return turn;
  };

  const enterDirectory = async (
    path: string,
    stats: Stats,
    depth: number,
    captures: readonly string[],
  ): Promise<Entry> => {
    const segment = segments[depth] ?? "";
    const isLast = depth === segments.length - 1;
    const entries = new Map<string, Entry>();
    let isClosed = false;
    const lookAt = async (name: string): Promise<void> => {
      const capture = matchSegment(segment, name);
      if (capture === undefined) return;
      const child = join(path, name);
      const found = await look(child);
      if (found === "hanging") return; // What was there may still be.
      const known = entries.get(name);
      if (isSame(known?.stats, found)) return known?.rescan();
      known?.close(isLast ? "socket" : "directory");
      entries.delete(name);
      const all = isPattern(segment) ? [...captures, capture] : captures;
      if (!isLast) {
        if (isFoundDirectory(found)) entries.set(name, await enterDirectory(child, found, depth + 1, all));
        return;
      }
      const socket = typeof found === "object" && found.isSocket() ? found : undefined;
      if (socket === undefined && known === undefined) return;
      entries.set(name, {
        stats: socket,
        rescan: async () => {},
        close: (what) => {
          if (socket || what === "directory") observer.onGone(child, what);
        },
      });
      if (socket === undefined) return;
      hasFound = true;
      observer.onFound(child, all);
    };
    let watcher: FSWatcher | undefined;
    const rescan = async () => {
      watcher ??= watchDirectory(path, onEvent, log);
      const listed = await listNames(path, lookAgainWhenShort);
      for (const name of new Set([...entries.keys(), ...listed])) await lookAt(name);
    };
    /** The names in events since the last look, of too many the directory's: a driver may make them faster than they are looked at. */
    const changed = new Set<string>();
    const onEvent = (event: string | null): void => {
      const name = event ?? basename(path);
      if (name !== basename(path) && matchSegment(segment, name) === undefined) return;
      if (changed.size === 0) turn = inTurn(lookAtChanged);
      changed.add(changed.size < MAX_SOCKETS ? name : basename(path));
    };
    const lookAtChanged = async () => {
      const names = [...changed];
      changed.clear();
      if (isClosed) return;
      // The directory itself may have changed: its watch may be gone, though another one has its path and even its inode.
      if (names.includes(basename(path))) {
        watcher?.close();
        watcher = undefined;
      }
      if (watcher === undefined) return rescan();
      for (const name of names) await lookAt(name);
    };
    await rescan();
    return {
      stats,
      rescan,
      close: () => {
        isClosed = true;
        watcher?.close();
        for (const entry of entries.values()) entry.close("directory");
      },
    };
  };

  let root: Entry | undefined;
  const lookAtRoot = async () => {
    const found = await look(rootPath);
    if (isSame(root?.stats, found)) await root?.rescan();
    else if (found !== "hanging") {
      root?.close("directory");
      root = isFoundDirectory(found) ? await enterDirectory(rootPath, found, rootDepth, []) : undefined;
    }
  };
  await inTurn(lookAtRoot);
  const isAway = `${rootPath} is not a directory here, or does not answer: is it mounted?`;
  const why = root === undefined ? isAway : "no socket fits";
  if (!hasFound) log.info("No CSI driver here yet", { pattern: pattern.text, why });
  while (!signal.aborted) {
    await rootWatch.wait(signal, LOOK_EVERY_MS);
    await rootWatch.rearm();
    if (!signal.aborted) await inTurn(lookAtRoot);
  }
  await turn;
  clearTimeout(whenShort);
  rootWatch.close();
  root?.close("directory");
}

/** Whether an entry is still what it was. A directory's mtime changes with its entries. */
function isSame(known: Stats | undefined, found: FileFound): boolean {
  if (typeof found === "string" || known === undefined)
    return typeof found === "string" && known === undefined;
  return known.isSocket() ? isSameSocket(known, found) : isSameFile(known, found);
}

const MAX_SOCKETS = 500;

export async function socketsFitting(pattern: string): Promise<readonly string[]> {
  let paths: readonly string[] = ["/"];
  for (const segment of segmentsOf(pattern)) {
    const found = paths.map(async (directory) => {
      const names = isPattern(segment) ? await listNames(directory) : [segment];
      const fitting = names.filter((name) => matchSegment(segment, name) !== undefined);
      return fitting.map((name) => join(directory, name));
    });
    paths = (await Promise.all(found)).flat();
  }
  const files = await Promise.all(paths.map(findFile));
  const isSocket = (found: FileFound | undefined) => typeof found === "object" && found.isSocket();
  return paths.filter((_, index) => isSocket(files[index])).slice(0, MAX_SOCKETS);
}
