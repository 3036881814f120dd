import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { systemError } from "../../base/errors";
import { isPattern, matchSegment, type PathPattern } from "../../host-path/path-pattern";
import { mountAt } from "../../unix/file-calls";
import { directoryVersionOf, versionOf } from "../../unix/file-identity";
import { errorAt, type FileFound, findFile, isFoundDirectory, listNames } from "../../unix/files";
import { canHang, isWithin, type Mount } from "../../unix/mounts";

type Pattern = Pick<PathPattern, "segments">;

/** What fits a pattern's segment: a directory on the way, or at its end any file. */
interface Entry {
  readonly stats: Stats;
  /** What the stars of the path stand for. */
  readonly captures: readonly string[];
}

interface Directory extends Entry {
  readonly entries: ReadonlyMap<string, Stats>;
}

/** What fits a pattern at one moment, by path; a directory comes before those in it. */
export interface Scan {
  readonly directories: ReadonlyMap<string, Directory>;
  readonly sockets: ReadonlyMap<string, Entry>;
}

const NO_ENTRIES: ReadonlyMap<string, Stats> = new Map();
export const NOTHING: Scan = { directories: new Map(), sockets: new Map() };

interface ScanOptions {
  /** The latest scan: what it saw of directories that are not in `changed` is taken from it. @default NOTHING */
  readonly before?: Scan;
  /** Directories that may have changed since. @default none */
  readonly changed?: ReadonlySet<string>;
  /** @default findFile */
  readonly look?: (path: string) => Promise<FileFound>;
  /** @default listNames */
  readonly list?: typeof listNames;
  /** Called after each read of a directory, with the first error: its names or an entry could not be read. */
  readonly onRead?: (directory: string, error: unknown) => void;
}

/** How many segments a pattern has before its first star; without a star all but the last. */
function rootDepth({ segments }: Pattern): number {
  const firstStar = segments.findIndex(isPattern);
  return firstStar === -1 ? segments.length - 1 : firstStar;
}

/** The directory that these segments name. */
export const rootOf = (pattern: Pattern): string =>
  `/${pattern.segments.slice(0, rootDepth(pattern)).join("/")}`;

/** Why a path could not be read a moment ago; EIO where it can now. */
const whyUnread = async (path: string): Promise<unknown> => (await errorAt(path)) ?? systemError("EIO");

/** Looks for what fits a pattern. What cannot be read counts as unchanged. Never rejects, never hangs. */
export async function scan(
  pattern: Pattern,
  {
    before = NOTHING,
    changed = new Set(),
    look = findFile,
    list = listNames,
    onRead = () => {},
  }: ScanOptions = {},
): Promise<Scan> {
  const directories = new Map<string, Directory>();
  const rootPath = rootOf(pattern);
  const root = await look(rootPath);
  if (root === "unreadable") onRead(rootPath, await whyUnread(rootPath));
  if (root === "hanging" || root === "unreadable") return before;
  let level: (readonly [path: string, entry: Entry])[] = [];
  if (isFoundDirectory(root)) level = [[rootPath, { stats: root, captures: [] }]];

  /** What fits a segment in a directory. A directory that did not change is not listed again. */
  const entriesOf = async (path: string, { stats }: Entry, segment: string) => {
    const { stats: statsBefore, entries: former = NO_ENTRIES } = before.directories.get(path) ?? {};
    const isSame = statsBefore && directoryVersionOf(statsBefore) === directoryVersionOf(stats);
    const isListed = !isSame || changed.has(path);
    let failure: unknown;
    const fail = (error: unknown) => {
      failure ??= error;
    };
    const listing = isListed && isPattern(segment) ? list(path) : Promise.resolve([]);
    const listed = await listing.catch((error: unknown) => {
      fail(error);
      return [];
    });
    const names = isPattern(segment) || !isListed ? [...former.keys(), ...listed] : [segment];
    const looked = [...new Set(names)].map(async (name): Promise<readonly [string, Stats][]> => {
      if (matchSegment(segment, name) === undefined) return [];
      const place = join(path, name);
      const found = isListed || changed.has(place) ? await look(place) : former.get(name);
      if (found === "unreadable") fail(await whyUnread(place));
      const there = found === "hanging" || found === "unreadable" ? former.get(name) : found;
      return typeof there === "object" ? [[name, there]] : [];
    });
    const entries = new Map((await Promise.all(looked)).flat());
    if (isListed || failure !== undefined) onRead(path, failure);
    return entries;
  };

  for (const segment of pattern.segments.slice(rootDepth(pattern))) {
    const opened = level.filter(([, { stats }]) => stats.isDirectory());
    const read = opened.map(async ([path, entry]) => {
      const entries = await entriesOf(path, entry, segment);
      directories.set(path, { ...entry, entries });
      return Array.from(entries, ([name, stats]) => {
        const star = isPattern(segment) ? [matchSegment(segment, name) ?? ""] : [];
        return [join(path, name), { stats, captures: [...entry.captures, ...star] }] as const;
      });
    });
    level = (await Promise.all(read)).flat();
  }
  const sockets = level.filter(([, { stats }]) => stats.isSocket());
  // By their paths: each start takes the same one of two paths to one socket.
  return { directories, sockets: new Map(sockets.sort(([one], [other]) => (one < other ? -1 : 1))) };
}

/** The differences of two scans of one pattern. */
export interface Changes {
  readonly found: readonly (readonly [path: string, entry: Entry])[];
  /** The sockets that were removed or replaced. */
  readonly gone: readonly string[];
  /** The directories that were removed or replaced, or are in such a directory. */
  readonly goneDirectories: ReadonlySet<string>;
}

export function diff(before: Scan, now: Scan): Changes {
  const goneDirectories = new Set<string>();
  for (const [path, { stats }] of before.directories) {
    const there = now.directories.get(path);
    const isSame = there !== undefined && directoryVersionOf(stats) === directoryVersionOf(there.stats);
    if (!isSame || goneDirectories.has(dirname(path))) goneDirectories.add(path);
  }
  const isIn = (path: string, entry: Entry, scan: Scan) => {
    const there = scan.sockets.get(path);
    const isSame = there !== undefined && versionOf(entry.stats) === versionOf(there.stats);
    return isSame && !goneDirectories.has(dirname(path));
  };
  const found = [...now.sockets].filter(([path, entry]) => !isIn(path, entry, before));
  const gone = [...before.sockets].filter(([path, entry]) => !isIn(path, entry, now)).map(([path]) => path);
  return { found, gone, goneDirectories };
}

/** Looks at a path unless it is on a mount below the root that can hang: such a mount is left out, which is said once. */
export function carefulLook(
  rootPath: string,
  onLeftOut: (mount: Pick<Mount, "mountPoint" | "fileSystem">) => void,
) {
  const leftOut = new Set<string>();
  return async (path: string): Promise<FileFound> => {
    const mount = mountAt(path);
    if (mount === undefined || !canHang(mount) || isWithin(rootPath, mount.mountPoint)) return findFile(path);
    const { mountPoint, fileSystem } = mount;
    if (!leftOut.has(mountPoint)) onLeftOut({ mountPoint, fileSystem });
    leftOut.add(mountPoint);
    return "gone";
  };
}
