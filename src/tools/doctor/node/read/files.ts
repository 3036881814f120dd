import { constants, type Dirent, type Stats } from "node:fs";
import {
  access,
  open as openFile,
  readdir,
  readFile,
  readlink,
  realpath,
  stat,
  statfs,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { errnoOf, systemError } from "../../../../base/errors";
import { callFileSystem, mountAt } from "../../../../unix/file-calls";
import { canHang, isWithin } from "../../../../unix/mounts";
import { MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import { type Gap, type Why, whyOf } from "../../findings/seen";
import { hostsPath, type PathOnHost } from "./paths";

// Every read of the node's files. One that fails rejects, is an errno or leaves a gap: it never counts as an absent file.

const reader =
  <Value>(read: (path: string) => Promise<Value>) =>
  (path: string): Promise<Value> =>
    callFileSystem(path, () => read(path));

export const readNames = reader((path) => readdir(path));
/** A text in which each item, or line, has this end. Rejects with EIO where the last one has not: the rest is missing. */
export const readWhole = async (path: string, end: "\n" | "\0"): Promise<string> => {
  const text = await reader(() => readFile(path, "utf8"))(path);
  if (text !== "" && !text.endsWith(end)) throw systemError("EIO");
  return text;
};
export const readLink = reader((path) => readlink(path));
export const realPath = reader((path) => realpath(path));
/** Why these rights are missing; undefined if they are there. */
export const errnoOfAccess = (path: string, rights: number): Promise<string | undefined> =>
  reader((at) => access(at, rights).then(() => undefined))(path).catch(errnoIn);

/** The file's stats, of a symbolic link those of its target; else the errno, ETIMEDOUT of a file system that hangs. */
export const statsOrErrno = (path: string): Promise<Stats | string> =>
  reader((at) => stat(at))(path).catch(errnoIn);

/**
 * Reaches a socket from its open directory where the path from here is too long: Linux limits the path that a call gets, and libuv
 * would cut it and connect to another one. `use` gets a path that is short enough, or the whole one.
 */
export async function withShortPath<R>(path: string, use: (short: string) => Promise<R>): Promise<R> {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return use(path);
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  const directory = await reader((at) => openFile(at, flags))(dirname(path));
  try {
    const short = `/proc/self/fd/${directory.fd}/${basename(path)}`;
    if (Buffer.byteLength(short) > MAX_SOCKET_PATH_BYTES) throw systemError("ENAMETOOLONG");
    return await use(short);
  } finally {
    await directory.close();
  }
}

/** How many files its file system may have, and how many more it may get; 0 and 0 where it has no limit. Or the errno. */
export const inodesOrErrno = (path: string): Promise<{ files: number; ffree: number } | string> =>
  reader((at) => statfs(at))(path).catch(errnoIn);

/** Whether the errno of a look says that nothing is at that path. */
export const isThereNone = (errno: string): boolean => errno === "ENOENT" || errno === "ENOTDIR";

/** The errno; of an error that is not the system's, which is a fault of ours, its words. */
export const errnoIn = (error: unknown): string => errnoOf(error) ?? String(error);

/**
 * What is read of each item; a gap where that fails, for whatever reason. `undefined` is left out, and so is a failure for
 * which `gapOf` returns undefined.
 */
export async function lookAtEach<Item, Found, Part extends string>(
  items: readonly Item[],
  look: (item: Item) => Promise<Found | undefined>,
  gapOf: (item: Item, why: Why) => Promise<Gap<Part> | undefined> | Gap<Part>,
) {
  const gaps: Gap<Part>[] = [];
  const found: Found[] = [];
  const lookAt = async (item: Item): Promise<readonly Found[]> => {
    try {
      const one = await look(item);
      return one === undefined ? [] : [one];
    } catch (error) {
      const gap = await gapOf(item, whyOf(error));
      if (gap !== undefined) gaps.push(gap);
      return [];
    }
  };
  for (let at = 0; at < items.length; at += AT_ONCE)
    found.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(lookAt))).flat());
  return { items: found, gaps };
}

/** More calls at once would run into their deadlines under a low CPU limit. */
const AT_ONCE = 16;

export function fileTypeOf(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a directory";
  return stats.isSocket() ? "a socket" : "a device or pipe";
}

/** Linux' own limit. */
const MAX_LINKS = 40;

/**
 * A path of another root as it is reached from here. The kernel would follow an absolute link on the way to this root; the host,
 * or a process in its container, follows it to its own: MicroK8s' /var/lib/kubelet is such a link. Rejects where it cannot be
 * read whether there is a link.
 */
export async function reachBelow(root: string, path: string): Promise<string> {
  if (root === "/") return path;
  const open = path.split("/").reverse();
  let reached: readonly string[] = [];
  for (let links = 0; open.length > 0; ) {
    const name = open.pop() ?? "";
    if (name === "..") {
      const found = await statsOrErrno(join(root, ...reached));
      // The kernel does not go up from what is not there, nor from a file.
      if (typeof found === "string" || !found.isDirectory())
        return [root, ...reached, "..", ...open.reverse()].join("/");
      reached = reached.slice(0, -1);
    }
    if (["", ".", ".."].includes(name)) continue;
    const link = await linkAt(join(root, ...reached, name));
    if (link === null) reached = [...reached, name];
    else {
      if (links++ >= MAX_LINKS) throw systemError("ELOOP");
      if (link.startsWith("/")) reached = [];
      open.push(...link.split("/").reverse());
    }
  }
  // At the end of a path it must be a directory's.
  return join(root, ...reached, path.endsWith("/") ? "/" : "");
}

/** A path below `hostRoot` as the host has it; another one as it is. */
export const pathOnHost = (hostRoot: string, path: string): PathOnHost =>
  hostsPath(isWithin(path, hostRoot) ? join("/", relative(hostRoot, path)) : path);

/** A path as seen from here: below `hostRoot` it is reached as the host follows its links, elsewhere by `otherwise`. */
export const reachOnHost = async (
  hostRoot: string,
  path: string,
  otherwise = async (given: string) => given,
): Promise<string> =>
  hostRoot !== "/" && isWithin(path, hostRoot)
    ? reachBelow(hostRoot, pathOnHost(hostRoot, path))
    : otherwise(path);

/** Where a symbolic link leads; null where no link is: of another file readlink(2) says EINVAL. */
export const linkAt = (path: string): Promise<string | null> =>
  readLink(path).catch((error: unknown) => {
    const errno = errnoIn(error);
    if (errno === "EINVAL" || isThereNone(errno)) return null;
    throw error;
  });

/** The names that are not UTF-8, which no path can reach: each as Node decodes it, with its bytes escaped. */
async function namesUnlike(
  directory: string,
  entries: readonly Dirent[],
): Promise<ReadonlyMap<string, string>> {
  if (!entries.some(({ name }) => name.includes("\ufffd"))) return new Map();
  const names = await reader((path) => readdir(path, { encoding: "buffer" }))(directory);
  const unlike = names.filter((name) => !name.equals(Buffer.from(name.toString())));
  const escaped = (name: Buffer) =>
    name
      .toString("latin1")
      .replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return new Map(unlike.map((name) => [name.toString(), escaped(name)]));
}

const LEADS_NOWHERE = ["ENOENT", "ENOTDIR", "ELOOP"];

interface Walked<Part extends string> {
  readonly paths: string[];
  /** Directories that cannot be listed, the first one too, and mounts whose server may not answer. */
  readonly gaps: Gap<Part>[];
}

interface WalkRules<Part extends string> {
  readonly part: Part;
  /** A directory that may be entered is wanted only if nothing wanted is in it, as far as it could be read. */
  readonly isWanted: (entry: Dirent) => boolean;
  /** `list`: it is listed, and no directory in it is entered. What may not be entered leaves no gap. */
  readonly mayEnter: (entry: Dirent) => boolean | "list";
  /** Default: symbolic links are not followed. */
  readonly links?: LinkRules;
}

interface LinkRules {
  /** Where a link leads; undefined: to where nothing is searched. */
  readonly follow: (path: string) => Promise<string | undefined>;
  /** Whether it leads to the same file on the host: else one that leads nowhere leaves a gap. */
  readonly isAsOnHost: (path: string, link: string) => boolean;
  /** What it leads to has the link's path, not its own. */
  readonly keepsPaths?: boolean;
}

/** The wanted files below a directory, and in those to which its links lead. It leaves out mounts that can hang. */
export async function walk<Part extends string>(
  directory: string,
  rules: WalkRules<Part>,
  depth = Number.POSITIVE_INFINITY,
): Promise<Walked<Part>> {
  const found: Walked<Part> = { paths: [], gaps: [] };
  const gapAt = (subject: string, why: Why) => void found.gaps.push({ part: rules.part, subject, why });
  const take = (below: Walked<Part>) => {
    // One by one: a directory may have more entries than a call may have arguments.
    for (const one of below.paths) found.paths.push(one);
    for (const gap of below.gaps) found.gaps.push(gap);
  };
  /** Nothing is there by one of these errnos, unless it is a link that leads elsewhere on the host. */
  const tellOf = async (path: string, error: unknown, gone: readonly string[]) => {
    if (!gone.includes(errnoOf(error) ?? "")) return gapAt(path, whyOf(error));
    const to = await linkAt(path).catch(() => null);
    if (to !== null && rules.links?.isAsOnHost(path, to) === false) gapAt(path, { kind: "link", to });
  };
  const followLink = async (path: string, { follow, isAsOnHost, keepsPaths }: LinkRules) => {
    try {
      const reached = await follow(path);
      if (reached === undefined) return gapAt(path, { kind: "deep", from: path });
      const mount = mountAt(reached);
      if (mount && canHang(mount)) return gapAt(path, { kind: "mount", fileSystem: mount.fileSystem });
      const stats = await statsOrErrno(reached);
      if (typeof stats === "string") throw systemError(stats);
      if (stats.isSocket()) found.paths.push(keepsPaths ? path : reached);
      // The directory itself, or one above it, is not searched again.
      if (!stats.isDirectory() || isWithin(directory, reached)) return;
      const below = await walk(
        reached,
        { ...rules, links: { follow: async () => undefined, isAsOnHost } },
        1,
      );
      const isDeep = below.gaps.some(({ why }) => why.kind === "deep");
      const named = (one: string) => (keepsPaths ? join(path, relative(reached, one)) : one);
      take({ paths: below.paths.map(named), gaps: below.gaps.filter(({ why }) => why.kind !== "deep") });
      if (isDeep) gapAt(reached, { kind: "deep", from: path });
    } catch (error) {
      await tellOf(path, error, LEADS_NOWHERE);
    }
  };
  try {
    const real = await realPath(directory);
    const entries = await reader((path) => readdir(path, { withFileTypes: true }))(directory);
    const unlike = await namesUnlike(directory, entries);
    let isDeep = false;
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const bytes = unlike.get(entry.name);
      if (bytes !== undefined) {
        const mayMatter = entry.isSocket() || entry.isDirectory() || entry.isSymbolicLink();
        if (mayMatter) gapAt(join(directory, bytes), { kind: "errno", errno: "EILSEQ" });
        continue;
      }
      const [isWanted, mayEnter] = [rules.isWanted(entry), rules.mayEnter(entry)];
      if (!isWanted && mayEnter === false) continue;
      const mount = mountAt(join(real, entry.name));
      if (mount?.isMountPoint && canHang(mount)) gapAt(path, { kind: "mount", fileSystem: mount.fileSystem });
      else if (isWanted && !(entry.isDirectory() && mayEnter)) found.paths.push(path);
      else if (entry.isSymbolicLink() && rules.links) await followLink(path, rules.links);
      else if (entry.isDirectory() && mayEnter === "list")
        take(await walk(path, { ...rules, mayEnter: () => false }, 1));
      else if (entry.isDirectory() && depth > 1) {
        const below = await walk(path, rules, depth - 1);
        take(below);
        if (isWanted && below.paths.length + below.gaps.length === 0) found.paths.push(path);
      } else if (entry.isDirectory()) isDeep = true;
    }
    if (isDeep) gapAt(directory, { kind: "deep", from: directory });
  } catch (error) {
    await tellOf(directory, error, ["ENOENT", "ENOTDIR"]);
  }
  return found;
}
