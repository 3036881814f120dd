import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "./kubelet-roots";
import { isWithin, type Mount, placeOf } from "./mounts";

/** Both names of one driver socket, and the mount table that joins them. Paths are absolute, without symbolic links. */
export interface HostPathQuestion {
  /** As this mount namespace has it; a `*` of a pattern is a character as any other. */
  readonly csiSocketPath: string;
  /** The path that kubelet gets. */
  readonly kubeletRegistrationPath: string;
  /** Kubelet's plugin registration directory as this mount namespace has it: its mount tells what kubelet's root is. */
  readonly pluginRegistrationPath: string;
  readonly mounts: readonly Mount[];
}

/** Whether kubelet, on the host, finds the driver's socket at the path that it gets. */
export type HostPathVerdict =
  | { readonly kind: "fits" }
  /** Its end fits: the socket is `path` on a disk, and where the host mounts that cannot be seen. */
  | { readonly kind: "ends-alike"; readonly path: string }
  | { readonly kind: "unknown" }
  /** It is elsewhere: `hostPath` is what to tell kubelet instead. */
  | { readonly kind: "differs"; readonly hostPath: string }
  /** It is elsewhere: at `path` on a disk, and where the host mounts that cannot be seen. */
  | { readonly kind: "differs-on-disk"; readonly path: string; readonly inKubeletRoot: string | undefined }
  /** The socket lies in an emptyDir volume, whose path on the host has the pod's UID in it. */
  | { readonly kind: "empty-dir" }
  /** The socket lies in the container's own layer, which is nowhere on the host that kubelet could be told. */
  | { readonly kind: "not-mounted"; readonly folder: string };

/**
 * Judges the path that kubelet is told by the mounts: a hostPath volume shows in the mount table with the folder that
 * it has on its file system. That is its path on the host where that file system is the host's root. A subvolume has
 * something before it, as in /@/var/lib/kubelet; of a disk that the host mounts somewhere it is the end. Only what
 * contradicts it is said to differ; symbolic links and bind mounts of the host are given the benefit of the doubt, as
 * long as the path leads through something like kubelet's root.
 */
export function judgeHostPath(question: HostPathQuestion): HostPathVerdict {
  const { csiSocketPath, pluginRegistrationPath, mounts } = question;
  const told = question.kubeletRegistrationPath.replace(/\/{2,}/g, "/");
  const socket = placeOf(csiSocketPath, mounts);
  const registry = placeOf(pluginRegistrationPath, mounts);
  if (socket === undefined || !told.startsWith("/")) return { kind: "unknown" };
  const { path } = socket;
  if (path.includes("/kubernetes.io~empty-dir/"))
    return told === path ? { kind: "fits" } : { kind: "empty-dir" };
  if (socket.fileSystem === "overlay" && registry?.isMountPoint && registry.fileSystem !== "overlay")
    return { kind: "not-mounted", folder: parentOf(csiSocketPath) };
  if (socket.isWholeFileSystem && socket.mountPoint === parentOf(csiSocketPath)) return { kind: "unknown" };
  const root = registry?.device === socket.device ? kubeletRootOf(registry.path) : undefined;
  const inRoot = root !== undefined && isWithin(path, root) ? path.slice(root.length) : undefined;
  const knownRoot = roots.find((known) => root?.endsWith(known));
  const subvolume = knownRoot && root?.slice(0, -knownRoot.length);
  const rootFileSystem = placeOf("/", mounts)?.fileSystem;
  const isHost = registry?.isMountPoint === false && rootFileSystem !== "overlay";
  let hostPath: string | undefined;
  if (isInKnownRoot(path) || isHostsRoot(socket.device, mounts)) hostPath = path;
  else if (isHost) hostPath = csiSocketPath;
  else if (subvolume && isWithin(path, subvolume)) hostPath = path.slice(subvolume.length);
  if (told === hostPath || (told === csiSocketPath && isHost)) return { kind: "fits" };
  if (socket.fileSystem === "overlay") return { kind: "unknown" };

  const toldRoot = inRoot !== undefined && told.endsWith(inRoot) ? told.slice(0, -inRoot.length) : undefined;
  const isContainers = told === csiSocketPath && hostPath !== undefined;
  // No kubelet has / for its root.
  if (told.endsWith(path) && !isContainers && toldRoot !== "") return { kind: "ends-alike", path };
  const isRootLike = (other: string) =>
    roots.includes(other) || (!knownRoot && baseOf(other) === baseOf(root ?? ""));
  if (toldRoot && isRootLike(toldRoot)) return { kind: "unknown" };
  return hostPath === undefined
    ? { kind: "differs-on-disk", path, inKubeletRoot: inRoot }
    : { kind: "differs", hostPath };
}

/** Where a whole path would be a guess. */
export const UNSEEN_MOUNT = "where the host mounts that disk cannot be seen from here";

/** What is wrong, in words that follow "kubelet will not find the driver: ", and what to write; undefined: nothing is. */
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
      return {
        problem: `on its disk the driver's socket is ${path}; ${UNSEEN_MOUNT}`,
        fix:
          inKubeletRoot === undefined
            ? `--kubelet-registration-path=<where the host mounts that disk>${path}`
            : `--kubelet-registration-path=<kubelet root>${inKubeletRoot}; the root is kubelet's --root-dir, or else ${DEFAULT_KUBELET_ROOT}`,
      };
    }
    case "empty-dir":
      return {
        problem: "the driver's socket is in an emptyDir volume, whose path on the host changes with each pod",
        fix: `make that volume a hostPath: ${DEFAULT_KUBELET_ROOT}/plugins/NAME, and name the socket in it`,
      };
    case "not-mounted":
      return {
        problem: `nothing of the host is mounted at ${verdict.folder}`,
        fix: `mount the hostPath ${DEFAULT_KUBELET_ROOT}/plugins/NAME there, in this container and in the driver's`,
      };
    default:
      return verdict satisfies never;
  }
}

/** What to do, in a sentence: a flag is to be written. */
export function fixText({ fix }: { readonly fix: string }): string {
  return fix.startsWith("--") ? `write ${fix}` : fix;
}

/** The longest first: one of them is the end of another. */
const roots: readonly string[] = [DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS)].sort(
  (one, other) => other.length - one.length,
);
const isInKnownRoot = (path: string) => roots.some((root) => isWithin(path, root));

/** Whether a file system is the host's root: it is our own root, or has a kubelet's root by its whole path. */
function isHostsRoot(device: string, mounts: readonly Mount[]): boolean {
  return mounts.some(
    (mount) =>
      mount.device === device &&
      (isInKnownRoot(mount.root) || (mount.root === "/" && mount.mountPoint === "/")),
  );
}

/** Kubelet's root, "" for that of a file system, where its plugin registration directory is at `path`. */
function kubeletRootOf(path: string): string | undefined {
  const tail = "/plugins_registry";
  return path.endsWith(tail) ? path.slice(0, -tail.length) : undefined;
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf("/")) || "/";
const baseOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
