import { type FSWatcher, type Stats, watch } from "node:fs";
import { basename, join } from "node:path";
import { errnoOf } from "../../base/errors";
import { isPattern, matchSegment, type PathPattern, segmentsOf } from "../../host-path/path-pattern";
import type { Logger } from "../../logging/logger";
import { isSameFile, isSameSocket, namesIn, statsOf } from "../../unix/files";
import { watchPath } from "../../unix/path-watch";

/** Called for sockets that fit a pattern; `captures` is what its stars stand for. */
interface DiscoveryObserver {
  onFound(captures: readonly string[]): void;
  /** The socket is gone: alone, as in a restart of its driver, or with its folder, which may also go later. */
  onGone(captures: readonly string[], what: "socket" | "folder"): void;
}

/** In case inotify misses an event. */
const LOOK_EVERY_MS = 30_000;

/** What fits so far: a folder whose entries are watched, or a socket. */
interface Entry {
  /** Undefined: the socket is gone, and its folder may go later. */
  readonly stats: Stats | undefined;
  rescan(): void;
  close(what: "socket" | "folder"): void;
}

/**
 * Finds the sockets that fit `pattern`, now and as they come, until `signal` is aborted. It watches each folder on the
 * way by inotify, and looks only at the name in an event: the cost grows with the changes, not with the drivers.
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

  const enterFolder = (path: string, stats: Stats, depth: number, captures: readonly string[]): Entry => {
    const segment = segments[depth] ?? "";
    const isLast = depth === segments.length - 1;
    const entries = new Map<string, Entry>();
    const look = (name: string) => {
      const capture = matchSegment(segment, name);
      if (capture === undefined) return;
      const found = statsOf(join(path, name));
      const known = entries.get(name);
      if (isSame(known?.stats, found)) return known?.rescan();
      known?.close(isLast ? "socket" : "folder");
      entries.delete(name);
      const all = isPattern(segment) ? [...captures, capture] : captures;
      if (!isLast) {
        if (found?.isDirectory()) entries.set(name, enterFolder(join(path, name), found, depth + 1, all));
        return;
      }
      const socket = found?.isSocket() ? found : undefined;
      if (socket === undefined && known === undefined) return;
      entries.set(name, {
        stats: socket,
        rescan: () => {},
        close: (what) => {
          if (socket || what === "folder") observer.onGone(all, what);
        },
      });
      if (socket === undefined) return;
      hasFound = true;
      observer.onFound(all);
    };
    let watcher: FSWatcher | undefined;
    const rescan = () => {
      watcher ??= watchFolder(path, onChange, log);
      for (const name of new Set([...entries.keys(), ...namesIn(path)])) look(name);
    };
    const onChange = (name: string | null) => {
      // The folder itself changed: its watch may be gone, though another folder has its path and even its inode.
      if (name === basename(path)) {
        watcher?.close();
        watcher = undefined;
      }
      if (name === null || watcher === undefined) rescan();
      else look(name);
    };
    rescan();
    return {
      stats,
      rescan,
      close: () => {
        watcher?.close();
        for (const entry of entries.values()) entry.close("folder");
      },
    };
  };

  const rootWatch = watchPath(rootPath, log);
  let root: Entry | undefined;
  let hasLooked = false;
  try {
    while (!signal.aborted) {
      const found = statsOf(rootPath);
      if (isSame(root?.stats, found)) root?.rescan();
      else {
        root?.close("folder");
        root = found?.isDirectory() ? enterFolder(rootPath, found, rootDepth, []) : undefined;
      }
      if (!hasLooked && !hasFound) {
        const why = root ? "no socket fits" : `${rootPath} is no folder here: is it mounted?`;
        log.info("No CSI driver here yet", { pattern: pattern.text, why });
      }
      hasLooked = true;
      await rootWatch.wait(signal, LOOK_EVERY_MS);
      rootWatch.rearm();
    }
  } finally {
    rootWatch.close();
    root?.close("folder");
  }
}

/** A folder's mtime changes with its entries. */
function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return other.isSocket() ? isSameSocket(one, other) : isSameFile(one, other);
}

function watchFolder(
  path: string,
  onChange: (name: string | null) => void,
  log: Logger,
): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, (_event, name) => onChange(name));
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch (error) {
    if (errnoOf(error) !== "ENOENT")
      log.v(2).info("Cannot watch folder, looking at it every 30s instead", { folder: path, err: error });
    return undefined;
  }
}

/** More drivers than a node has. */
const MAX_SOCKETS = 500;

export function socketsFitting(pattern: string): readonly string[] {
  let paths: readonly string[] = ["/"];
  for (const segment of segmentsOf(pattern)) {
    const namesFitting = (folder: string) =>
      isPattern(segment)
        ? namesIn(folder).filter((name) => matchSegment(segment, name) !== undefined)
        : [segment];
    paths = paths.flatMap((folder) => namesFitting(folder).map((name) => join(folder, name)));
  }
  return paths.filter((path) => statsOf(path)?.isSocket()).slice(0, MAX_SOCKETS);
}
