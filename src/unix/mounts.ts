import { readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { attempt } from "../base/errors";

/** The fields of a line of `/proc/self/mountinfo` that matter here (proc_pid_mountinfo(5)). */
export interface Mount {
  /** The number of the file system, such as `8:1`. */
  readonly device: string;
  readonly mountPoint: string;
  /** The mounted directory, as a path from its file system's root. */
  readonly root: string;
  readonly fileSystem: string;
}

/** Where a path leads behind all mounts; `mountPoint` is of the mount that contains it. */
export type MountPlace = NonNullable<ReturnType<typeof mountPlaceOf>>;

/** File systems whose server may stop answering; every call on a path below such a mount then hangs. */
const CAN_HANG = /^(?:9p|afs|autofs|beegfs|ceph|cifs|coda|fuse|gpfs|lustre|nfs|ocfs2|orangefs|smb|virtiofs)/;

export const canHang = ({ fileSystem }: Pick<Mount, "fileSystem">): boolean => CAN_HANG.test(fileSystem);

/** File systems of this machine alone, which answer at once. */
const LOCAL = /^(?:btrfs|ext[234]|f2fs|overlay|ramfs|rootfs|tmpfs|xfs|zfs)$/;

export const isLocal = ({ fileSystem }: Pick<Mount, "fileSystem">): boolean => LOCAL.test(fileSystem);

/** What was read last, and means: the table rarely changes, and is read every 5 s. */
const latest: { text?: string; mounts?: readonly Mount[] } = {};

/**
 * The mounts of this process' namespace, the very same array as long as they are the same; undefined where the system does
 * not tell. Never hangs.
 */
export function readMounts(procfs = "/proc"): readonly Mount[] | undefined {
  const text = attempt(() => readFileSync(join(procfs, "self", "mountinfo"), "utf8"));
  if (text === undefined) return undefined;
  if (text !== latest.text) Object.assign(latest, { text, mounts: parseMountinfo(text) });
  return latest.mounts;
}

export function parseMountinfo(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , device, root, mountPoint] = before.split(" ");
    const [fileSystem] = after.split(" ");
    if (!device || !root || !mountPoint || !fileSystem) return [];
    return [{ device, root: unescapeOctal(root), mountPoint: unescapeOctal(mountPoint), fileSystem }];
  });
}

/** Where `path` (absolute, without symbolic links) leads; undefined if no mount contains it. */
export function mountPlaceOf(path: string, mounts: readonly Mount[]) {
  // Of several mounts on one point the last hides the others.
  const found = mounts
    .filter(({ mountPoint }) => isWithin(path, mountPoint))
    .sort((one, other) => one.mountPoint.length - other.mountPoint.length)
    .at(-1);
  if (found === undefined) return undefined;
  const { device, fileSystem, mountPoint, root } = found;
  const rest = mountPoint === "/" ? path : path.slice(mountPoint.length);
  return {
    device,
    fileSystem,
    mountPoint,
    /** From its file system's root. For a hostPath volume: the host's path without that file system's mount point. */
    path: `${root === "/" ? "" : root}${rest}` || "/",
    isMountPoint: mountPoint === path,
    /** Whether the mount is a whole file system: this container cannot see where the host mounts that. */
    isWholeFileSystem: root === "/",
  };
}

/** ` (/data/plugins_registry on its file system)`; nothing where that is the same path. */
export const onFileSystem = (path: string, onHost: string | undefined): string =>
  onHost === undefined || onHost === path ? "" : ` (${onHost} on its file system)`;

/** A path without what changes nothing: `//`, `/./`, a `/` at its end. */
export const plainPath = (path: string): string =>
  path === "" ? "" : normalize(path).replace(/(?<=.)\/$/, "");

export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** The kernel writes a space, a tab, a line feed and a backslash as `\040` and so on. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
