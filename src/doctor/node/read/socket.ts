import { type Dirent, readdirSync, readFileSync, type Stats } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { attempt, errnoOf } from "../../../base/errors";
import { CONTAINER_DIRECTORY, isNodeWide, nodeDirectory } from "../../../flags/paths";
import { isProbeMode, parseFlags } from "../../../flags/table";
import { callFileSystem, mountAt } from "../../../unix/file-calls";
import { isDirectory, isSameFile } from "../../../unix/files";
import { canHang } from "../../../unix/mounts";
import { MAX_SOCKET_PATH_BYTES, parseCsiAddress } from "../../../unix/socket-path";
import { explainConnectError, tryConnect } from "../../../unix/unix-socket";
import { behindRegistrar } from "../../manifest/read/program";
import type { SocketFacts } from "./facts";

/** Looks at a path where a unix socket belongs. By default it connects, says nothing and leaves. */
export async function lookAtSocket(path: string, tryReach = tryConnect): Promise<SocketFacts> {
  const bytes = Buffer.byteLength(path);
  // Before anything else: libuv would cut the path and connect to another one.
  if (bytes > MAX_SOCKET_PATH_BYTES) return { kind: "too-long", path, bytes };
  const stats = await statsOrErrno(path);
  if (stats === "ENOENT")
    return { kind: "missing", path, isDirectoryInSight: await isDirectory(dirname(path)) };
  if (typeof stats === "string") return { kind: "out-of-reach", path, errno: stats };
  if (!stats.isSocket()) return { kind: "not-a-socket", path, fileType: fileTypeOf(stats) };
  const seen = { path, ownership: stats, inode: `${stats.dev}:${stats.ino}` };
  const error = await tryReach(path);
  if (error === undefined) return { kind: "accepting", ...seen };
  const explanation = explainConnectError(error) ?? error.message;
  return { kind: "not-accepting", ...seen, errno: errnoOf(error), explanation };
}

/** The file's stats, of a symbolic link those of its target; else the errno, ETIMEDOUT of a file system that hangs. */
export const statsOrErrno = (path: string): Promise<Stats | string> =>
  callFileSystem(path, () => stat(path)).catch(errnoIn);

export const errnoIn = (error: unknown): string => errnoOf(error) ?? "EIO";

export function fileTypeOf(stats: Stats): string {
  if (stats.isFile()) return "a file";
  if (stats.isDirectory()) return "a directory";
  return stats.isSocket() ? "a socket" : "a device or pipe";
}

/**
 * The wanted files below a directory. It follows no symbolic link, and leaves out mounts that can hang. `errno`: the directory
 * itself cannot be listed.
 */
export async function walk(
  directory: string,
  isWanted: (entry: Dirent) => boolean,
  mayEnter: (entry: Dirent) => boolean,
  depth = Number.POSITIVE_INFINITY,
): Promise<{ paths: string[]; leftOut: { path: string; fileSystem: string }[]; errno?: string }> {
  const found = { paths: [] as string[], leftOut: [] as { path: string; fileSystem: string }[] };
  if (depth === 0) return found;
  const list = async () =>
    [await realpath(directory), await readdir(directory, { withFileTypes: true })] as const;
  try {
    const [real, entries] = await callFileSystem(directory, list);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      const mount = mountAt(join(real, entry.name));
      if (mount?.isMountPoint && canHang(mount)) found.leftOut.push({ path, fileSystem: mount.fileSystem });
      else if (isWanted(entry)) found.paths.push(path);
      else if (entry.isDirectory() && mayEnter(entry)) {
        const below = await walk(path, isWanted, mayEnter, depth - 1);
        found.paths.push(...below.paths);
        found.leftOut.push(...below.leftOut);
      }
    }
    return found;
  } catch (error) {
    return { ...found, errno: errnoIn(error) };
  }
}

/** A process' short name, which can be read without waiting for the process. */
const MAY_BE_REGISTRAR = /^(?:csi-|registrar|cli\.js|node|MainThread)/;

/**
 * Finds the processes with a registrar, of any project, for this registration directory, if this user may see their files. A
 * container without the host's processes sees its own only.
 */
export async function findRegistrars(directory: string, procfs: string) {
  const ours = await statsOrErrno(directory);
  if (typeof ours === "string") return [];
  const listIn = async (pid: string, name: string) => {
    const path = join(procfs, pid, name);
    const text = await callFileSystem(path, () => readFile(path, "utf8")).catch(() => "");
    return text.split("\0").slice(0, -1);
  };
  const environmentOf = async (pid: string) =>
    Object.fromEntries((await listIn(pid, "environ")).map((one) => one.split(/=(.*)/s, 2)));
  const readOne = async (pid: string) => {
    const args = behindRegistrar(await listIn(pid, "cmdline"));
    const line = args && /^(?:-|$)/.test(args[0] ?? "") ? parseFlags(args) : undefined;
    if (line?.kind !== "flags" || isProbeMode(line.flags.mode)) return [];
    const { flags } = line;
    const csiAddress = attempt(() => parseCsiAddress(flags.csiAddress)) ?? flags.csiAddress;
    const root = (path: string) => join(procfs, pid, path.startsWith("/") ? "root" : "cwd", path);
    const isGiven = flags.given.has("plugin-registration-path");
    const directories = isGiven
      ? [flags.pluginRegistrationPath]
      : [CONTAINER_DIRECTORY, nodeDirectory(await environmentOf(pid))];
    const there = await Promise.all(directories.map((one) => statsOrErrno(root(one))));
    if (!there.some((one) => typeof one !== "string" && isSameFile(one, ours))) return [];
    return [
      {
        pid: Number(pid),
        isNodeWide: isNodeWide(flags),
        /** The driver's socket as kubelet gets it. */
        endpoint: flags.kubeletRegistrationPath || csiAddress,
        /** The driver's socket as the registrar sees it; its path is of the registrar's own file system. */
        socket: { ...(await lookAtSocket(root(csiAddress))), path: csiAddress },
      },
    ];
  };
  const pids = attempt(() => readdirSync(procfs)) ?? [];
  const isCandidate = (pid: string) =>
    /^\d+$/.test(pid) &&
    MAY_BE_REGISTRAR.test(attempt(() => readFileSync(join(procfs, pid, "comm"), "utf8")) ?? "");
  return (await Promise.all(pids.filter(isCandidate).map(readOne))).flat();
}
