import { join } from "node:path";
import { errnoOf } from "../../base/errors";
import { matchSegments, type PathPattern, segmentsOf } from "../../host-path/path-pattern";
import type { Logger } from "../../logging/logger";
import { isShortage } from "../../unix/descriptors";
import { directoryVersionOf } from "../../unix/file-identity";
import { createDirectoryWatches, watchPath } from "../../unix/path-watch";
import { type Changes, carefulLook, diff, NOTHING, rootOf, scan } from "./scan";

/** After a directory could not be read, because there were no file descriptors. */
const LOOK_WHEN_SHORT_MS = 2_000;

interface DiscoveryOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Gets the sockets that fit, and what comes and goes. */
  readonly onChanges: (changes: Changes) => void;
}

/**
 * Finds the sockets that fit `pattern`, now and as they come, until `signal` is aborted. It watches each directory on the
 * way, and looks again only at those that changed: the cost grows with the changes, not with the drivers.
 *
 * Below the directories without a star it leaves out the mounts that can hang.
 */
export async function discover(
  pattern: PathPattern,
  { log, signal, onChanges }: DiscoveryOptions,
): Promise<void> {
  const rootPath = rootOf(pattern);
  const look = carefulLook(rootPath, (mount) =>
    log.warn("File system on this mount can hang, drivers below it are left out", mount),
  );
  const changed = new Set<string>();
  using rootWatch = await watchPath(rootPath, log);
  const lookAgain = (directory: string) => {
    changed.add(directory);
    rootWatch.hint();
  };
  using watches = createDirectoryWatches((directory, name) => {
    const fits = (path: string) => matchSegments(pattern.segments, segmentsOf(path)) !== undefined;
    if (name === undefined || fits(join(directory, name))) lookAgain(directory);
  }, log);
  let whenShort: NodeJS.Timeout | undefined;
  /** The errno with which each directory could not be read. */
  const unread = new Map<string, string>();
  const onRead = (directory: string, error: unknown) => {
    warnOfUnread(unread, directory, error, log);
    if (!isShortage(error)) return;
    changed.add(directory);
    whenShort ??= setTimeout(rootWatch.hint, LOOK_WHEN_SHORT_MS);
  };

  let before = NOTHING;
  let isFirst = true;
  do {
    const since = new Set(changed);
    changed.clear();
    clearTimeout(whenShort);
    whenShort = undefined;
    const now = await scan(pattern, { before, changed: since, look, onRead });
    const changes = diff(before, now);
    for (const directory of changes.goneDirectories) unread.delete(directory);
    onChanges(changes);
    if (isFirst && now.sockets.size + unread.size === 0) {
      const isAway = `${rootPath} is not a directory here, or does not answer: is it mounted?`;
      const why = now.directories.size === 0 ? isAway : "no socket fits";
      log.info("No CSI driver here yet", { pattern: pattern.text, why });
    }
    isFirst = false;
    before = now;
    const versions = Array.from(
      now.directories,
      ([path, { stats }]) => [path, directoryVersionOf(stats)] as const,
    );
    // What came between scan and watch is in the next look.
    for (const directory of watches.keep(new Map(versions))) lookAgain(directory);
    await rootWatch.wait(signal);
  } while (!signal.aborted);
  clearTimeout(whenShort);
}

/** Warns once, until the directory can be read or fails with another errno. */
function warnOfUnread(known: Map<string, string>, directory: string, error: unknown, log: Logger): void {
  const errno = errnoOf(error);
  if (errno === undefined) return void known.delete(directory);
  if (known.get(directory) === errno) return;
  known.set(directory, errno);
  const check = "does this container run as root, and does SELinux let it read the directory?";
  const isDenied = errno === "EACCES" || errno === "EPERM";
  log.warn("Cannot read directory, CSI drivers in it stay as they were", {
    ...{ directory, err: error, ...(isDenied && { check }) },
  });
}
