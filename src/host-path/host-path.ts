import { basename, dirname } from "node:path";
import { isWithin, type Mount, mountPlaceOf } from "../unix/mounts";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "./kubelet-roots";

/** Both names of one driver socket, and the directory whose mount shows kubelet's root. */
export interface DriverPaths {
  /** As this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly kubeletRegistrationPath: string;
  /** Kubelet's plugin registration directory as this process sees it. */
  readonly pluginRegistrationPath: string;
}

/** The mount table joins both names. Paths are absolute, without symbolic links; a pattern's `*` is a character. */
export interface HostPathQuestion extends DriverPaths {
  readonly csiSocketPath: string;
  readonly mounts: readonly Mount[];
}

/** Whether kubelet, on the host, finds the driver's socket at the path that it gets. */
export type HostPathVerdict =
  | { readonly kind: "fits" }
  /** Its end fits: the socket is `path` on a disk; this container cannot see where the host mounts that disk. */
  | { readonly kind: "ends-alike"; readonly path: string }
  | { readonly kind: "unknown" }
  /** It is elsewhere: kubelet should get `hostPath`. */
  | { readonly kind: "differs"; readonly hostPath: string }
  /** It is elsewhere: at `path` on a disk; this container cannot see where the host mounts that disk. */
  | { readonly kind: "differs-on-disk"; readonly path: string; readonly inKubeletRoot: string | undefined }
  /** The socket is in an emptyDir volume, whose path on the host contains the pod's UID. */
  | { readonly kind: "empty-dir" }
  /** The socket is in the container's own layer: no path of the host leads there. */
  | { readonly kind: "not-mounted"; readonly folder: string };

/**
 * Compares the path that kubelet gets with the mounts. The mount table shows a hostPath volume with its directory on its
 * file system. If that file system is the host's root, the directory is the path on the host; on a subvolume a prefix comes
 * first, as in /@/var/lib/kubelet; on a disk that the host mounts somewhere, the directory is the end of the path. Only a
 * contradiction gives `differs`: the host may have symbolic links and bind mounts, as long as the path leads through
 * something like kubelet's root.
 */
export function judgeHostPath(question: HostPathQuestion): HostPathVerdict {
  const { csiSocketPath, pluginRegistrationPath, mounts } = question;
  const given = question.kubeletRegistrationPath.replace(/\/{2,}/g, "/");
  const socket = mountPlaceOf(csiSocketPath, mounts);
  const registry = mountPlaceOf(pluginRegistrationPath, mounts);
  if (socket === undefined || !given.startsWith("/")) return { kind: "unknown" };
  const { path } = socket;
  if (path.includes("/kubernetes.io~empty-dir/"))
    return given === path ? { kind: "fits" } : { kind: "empty-dir" };
  if (socket.fileSystem === "overlay" && registry?.isMountPoint && registry.fileSystem !== "overlay")
    return { kind: "not-mounted", folder: dirname(csiSocketPath) };
  if (socket.isWholeFileSystem && socket.mountPoint === dirname(csiSocketPath)) return { kind: "unknown" };
  const root = registry?.device === socket.device ? kubeletRootOf(registry.path) : undefined;
  const inRoot = root !== undefined && isWithin(path, root) ? path.slice(root.length) : undefined;
  const knownRoot = roots.find((known) => root?.endsWith(known));
  const subvolume = knownRoot && root?.slice(0, -knownRoot.length);
  const rootFileSystem = mountPlaceOf("/", mounts)?.fileSystem;
  const isHost = registry?.isMountPoint === false && rootFileSystem !== "overlay";
  let hostPath: string | undefined;
  if (isInKnownRoot(path) || isHostsRoot(socket.device, mounts)) hostPath = path;
  else if (isHost) hostPath = csiSocketPath;
  else if (subvolume && isWithin(path, subvolume)) hostPath = path.slice(subvolume.length);
  if (given === hostPath || (given === csiSocketPath && isHost)) return { kind: "fits" };
  if (socket.fileSystem === "overlay") return { kind: "unknown" };

  const givenRoot =
    inRoot !== undefined && given.endsWith(inRoot) ? given.slice(0, -inRoot.length) : undefined;
  const isContainers = given === csiSocketPath && hostPath !== undefined;
  // No kubelet has / for its root.
  if (given.endsWith(path) && !isContainers && givenRoot !== "") return { kind: "ends-alike", path };
  const isRootLike = (other: string) =>
    roots.includes(other) || (!knownRoot && basename(other) === basename(root ?? ""));
  if (givenRoot && isRootLike(givenRoot)) return { kind: "unknown" };
  return hostPath === undefined
    ? { kind: "differs-on-disk", path, inKubeletRoot: inRoot }
    : { kind: "differs", hostPath };
}

export const UNSEEN_MOUNT = "where the host mounts that disk cannot be seen from here";

/** What is wrong, to follow "kubelet will not find the driver: ", and the fix; undefined if no fault is known. */
export function explainHostPath(
  verdict: HostPathVerdict,
): { readonly problem: string; readonly fix: string } | undefined {
  switch (verdict.kind) {
    case "fits":
    case "ends-alike":
    case "unknown":
      return undefined;
    case "differs":
      return {
        problem: `on the host the driver's socket is ${verdict.hostPath}`,
        fix: `--kubelet-registration-path=${verdict.hostPath}`,
      };
    case "differs-on-disk": {
      const { path, inKubeletRoot } = verdict;
      const whatRootIs = `the root is kubelet's --root-dir, or else ${DEFAULT_KUBELET_ROOT}`;
      const host = inKubeletRoot
        ? `<kubelet root>${inKubeletRoot}; ${whatRootIs}`
        : `<where the host mounts that disk>${path}`;
      return {
        problem: `on its disk the driver's socket is ${path}; ${UNSEEN_MOUNT}`,
        fix: `--kubelet-registration-path=${host}`,
      };
    }
    case "empty-dir":
      return {
        problem: "the driver's socket is in an emptyDir volume, whose path on the host changes with each pod",
        fix: `make that volume a hostPath: ${DEFAULT_KUBELET_ROOT}/plugins/NAME, and name the socket in it`,
      };
    case "not-mounted":
      return {
        problem: `no directory of the host is mounted at ${verdict.folder}`,
        fix: `mount the hostPath ${DEFAULT_KUBELET_ROOT}/plugins/NAME there, in this container and in the driver's`,
      };
    default:
      return verdict satisfies never;
  }
}

/** The fix as a sentence: a flag gets its verb. */
export function fixText({ fix }: { readonly fix: string }): string {
  return fix.startsWith("--") ? `write ${fix}` : fix;
}

/** The longest first, because one is the end of another. */
const roots: readonly string[] = [DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS)].sort(
  (one, other) => other.length - one.length,
);
const isInKnownRoot = (path: string) => roots.some((root) => isWithin(path, root));

/** Whether a file system is the host's root: it is our own root, or contains a kubelet's root by its whole path. */
function isHostsRoot(device: string, mounts: readonly Mount[]): boolean {
  return mounts.some(
    (mount) =>
      mount.device === device &&
      (isInKnownRoot(mount.root) || (mount.root === "/" && mount.mountPoint === "/")),
  );
}

/** Kubelet's root, "" for the root of a file system, if its plugin registration directory is `path`. */
function kubeletRootOf(path: string): string | undefined {
  const tail = "/plugins_registry";
  return path.endsWith(tail) ? path.slice(0, -tail.length) : undefined;
}
