/** A line of `/proc/self/mountinfo`, as far as it matters here (proc_pid_mountinfo(5)). */
export interface Mount {
  /** `8:1`: what tells one file system from another. */
  readonly device: string;
  readonly mountPoint: string;
  /** Which folder of its file system is mounted, as called from that file system's root on. */
  readonly root: string;
  readonly fileSystem: string;
}

/** Where a path leads when all mounts are seen through. */
export interface Place {
  /** Type of the file system: `ext4`, `overlay`. */
  readonly fileSystem: string;
  /**
   * The path from the root of that file system on. For a hostPath volume this is the host's path, less the mount
   * point that the file system has there.
   */
  readonly path: string;
  readonly isMountPoint: boolean;
  readonly device: string;
  /** Where in this mount namespace the mount begins that holds the path. */
  readonly mountPoint: string;
  /** Whether that mount is a whole file system: then what it is called elsewhere cannot be seen. */
  readonly isWholeFileSystem: boolean;
}

/** Reads mountinfo; lines that have another form are passed over. */
export function parseMountinfo(text: string): readonly Mount[] {
  return text.split("\n").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , device, root, mountPoint] = before.split(" ");
    const [fileSystem] = after.split(" ");
    if (!device || !root || !mountPoint || !fileSystem) return [];
    return [{ device, root: unescapeOctal(root), mountPoint: unescapeOctal(mountPoint), fileSystem }];
  });
}

/** Where `path` (absolute, without symbolic links) leads; undefined where no mount holds it. */
export function placeOf(path: string, mounts: readonly Mount[]): Place | undefined {
  let found: Mount | undefined;
  for (const mount of mounts) {
    // Of several mounts on one point the last hides the others.
    const isCloser = mount.mountPoint.length >= (found?.mountPoint.length ?? 0);
    if (isWithin(path, mount.mountPoint) && isCloser) found = mount;
  }
  if (found === undefined) return undefined;
  const { device, fileSystem, mountPoint, root } = found;
  const rest = mountPoint === "/" ? path : path.slice(mountPoint.length);
  return {
    fileSystem,
    path: `${root === "/" ? "" : root}${rest}` || "/",
    isMountPoint: mountPoint === path,
    device,
    mountPoint,
    isWholeFileSystem: root === "/",
  };
}

/** Whether `path` is `folder` or lies somewhere in it; both absolute. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** The kernel writes a space, a tab, a line feed and a backslash as `\040` and so on. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
