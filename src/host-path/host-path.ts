import { basename, dirname } from "node:path";
import { realPathOf } from "../unix/files";
import { isWithin, type Mount, type MountPlace, mountPlaceOf, readMounts } from "../unix/mounts";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "./kubelet-roots";
import { leadsThrough } from "./path-pattern";

/** Both names of one driver socket, and the directory whose mount shows kubelet's root. */
interface DriverPaths {
  /** As this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly kubeletRegistrationPath: string;
  /** Kubelet's plugin registration directory as this process sees it. */
  readonly pluginRegistrationPath: string;
}

/** The mount table joins both names. Paths are absolute, without symbolic links; a pattern's `*` is a character. */
interface HostPathQuestion extends DriverPaths {
  readonly csiSocketPath: string;
  readonly mounts: readonly Mount[];
}

/** Whether kubelet, on the host, finds the driver's socket at the path that it gets. */
export type HostPathVerdict =
  /** `fits`: the whole path, or its end if this container cannot see where the host mounts the socket's disk. */
  | { readonly kind: "fits" | "unknown" }
  /** `problem` follows "kubelet will not find the driver: ". */
  | { readonly kind: "wrong"; readonly problem: string; readonly fix: string };

const FITS: HostPathVerdict = { kind: "fits" };
const UNKNOWN: HostPathVerdict = { kind: "unknown" };
const wrong = (problem: string, fix: string): HostPathVerdict => ({ kind: "wrong", problem, fix });
const REGISTRY = "/plugins_registry";
const USUAL_DIRECTORY = `${DEFAULT_KUBELET_ROOT}/plugins/NAME`;

/** Judges the path that kubelet gets by the mounts of this container. Of a pattern only what one mount holds is known. */
export async function judgeByMounts(
  { csiSocketPath: given, kubeletRegistrationPath, pluginRegistrationPath: directory }: DriverPaths,
  mounts = readMounts(),
): Promise<HostPathVerdict> {
  if (!given?.startsWith("/") || mounts === undefined) return UNKNOWN;
  const [csiSocketPath, pluginRegistrationPath] = [await realPathOf(given), await realPathOf(directory)];
  const mountPoints = mounts.map(({ mountPoint }) => mountPoint);
  const isMounted = mountPlaceOf(csiSocketPath, mounts)?.mountPoint !== "/";
  const verdict = judgeHostPath({ csiSocketPath, kubeletRegistrationPath, pluginRegistrationPath, mounts });
  // A driver with a mount of its own may have its socket elsewhere.
  const isOpen = !isMounted || verdict.kind === "fits";
  return isOpen && leadsThrough(csiSocketPath, mountPoints) ? UNKNOWN : verdict;
}

/**
 * Compares the path that kubelet gets with the mounts. The mount table shows a hostPath volume with its directory on its
 * file system. If that file system is the host's root, the directory is the path on the host; on a subvolume a prefix comes
 * first, as in /@/var/lib/kubelet; on a disk that the host mounts somewhere, the directory is the end of the path. Only a
 * contradiction is `wrong`: the host may have symbolic links and bind mounts, as long as the path leads through
 * something like kubelet's root.
 */
export function judgeHostPath(question: HostPathQuestion): HostPathVerdict {
  const { csiSocketPath, mounts } = question;
  const given = question.kubeletRegistrationPath.replace(/\/{2,}/g, "/");
  const socket = mountPlaceOf(csiSocketPath, mounts);
  const registry = mountPlaceOf(question.pluginRegistrationPath, mounts);
  if (socket === undefined || !given.startsWith("/")) return UNKNOWN;
  const { path } = socket;
  const { root, inRoot, knownRoot } = rootOf(socket, registry);
  const isHost = registry?.isMountPoint === false && mountPlaceOf("/", mounts)?.fileSystem !== "overlay";
  const subvolume = knownRoot && root?.slice(0, -knownRoot.length);
  let hostPath: string | undefined;
  if (isInKnownRoot(path) || isHostsRoot(socket.device, mounts)) hostPath = path;
  else if (isHost) hostPath = csiSocketPath;
  else if (subvolume && isWithin(path, subvolume)) hostPath = path.slice(subvolume.length);
  const givenRoot =
    inRoot !== undefined && given.endsWith(inRoot) ? given.slice(0, -inRoot.length) : undefined;
  const isLayer = socket.fileSystem === "overlay";
  const isWholeDisk = socket.isWholeFileSystem && socket.mountPoint === dirname(csiSocketPath);
  const isContainers = given === csiSocketPath && hostPath !== undefined;
  if (path.includes("/kubernetes.io~empty-dir/")) return given === path ? FITS : IN_EMPTY_DIR;
  if (isLayer && registry?.isMountPoint === true && registry.fileSystem !== "overlay")
    return notMounted(csiSocketPath);
  if (given === hostPath || (isHost && given === csiSocketPath)) return FITS;
  if (isWholeDisk || isLayer) return UNKNOWN;
  // No kubelet has / for its root.
  if (given.endsWith(path) && !isContainers && givenRoot !== "") return FITS;
  const isNamedAlike = !knownRoot && basename(givenRoot ?? "") === basename(root ?? "");
  if (givenRoot && (isNamedAlike || roots.includes(givenRoot))) return UNKNOWN;
  const below = inRoot ? `<kubelet root>${inRoot}` : `<where the host mounts that disk>${path}`;
  const [place, found] = hostPath === undefined ? ["on its disk", path] : ["on the host", hostPath];
  return wrong(
    `${place} the driver's socket is ${found}`,
    `write --kubelet-registration-path=${hostPath ?? below}`,
  );
}

/** Kubelet's root on the socket's disk, by the registration directory; the socket's path in it; the usual root that it ends with. */
function rootOf(socket: MountPlace, registry: MountPlace | undefined) {
  const isKubelets = registry?.device === socket.device && registry.path.endsWith(REGISTRY);
  const root = isKubelets ? registry.path.slice(0, -REGISTRY.length) : undefined;
  const inRoot =
    root !== undefined && isWithin(socket.path, root) ? socket.path.slice(root.length) : undefined;
  return { root, inRoot, knownRoot: roots.find((known) => root?.endsWith(known)) };
}

const IN_EMPTY_DIR = wrong(
  "the driver's socket is in an emptyDir volume: its host path changes with each pod",
  `make that volume a hostPath: ${USUAL_DIRECTORY}`,
);

const notMounted = (csiSocketPath: string) =>
  wrong(
    `no directory of the host is mounted at ${dirname(csiSocketPath)}`,
    `mount the hostPath ${USUAL_DIRECTORY} there, in this container and in the driver's`,
  );

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
