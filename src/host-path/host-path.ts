import { basename, dirname } from "node:path";
import { realPathOf } from "../unix/files";
import { isWithin, type Mount, type MountPlace, mountPlaceOf, readMounts } from "../unix/mounts";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "./kubelet-roots";
import { leadsThrough } from "./path-pattern";

/** Both names of one driver socket, and the directory whose mount shows kubelet's root. */
interface DriverPaths {
  /** As this process sees it; undefined where the driver runs in this process. */
  readonly csiSocketPath?: string | undefined;
  readonly endpoint: string;
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
  | { readonly kind: "fits" }
  | { readonly kind: "unknown" }
  /** `problem` follows "kubelet will not find the driver: ". */
  | {
      readonly kind: "wrong";
      readonly problem: string;
      readonly fix: string;
      /** The kubelet registration path that the fix has, where the mounts show it. */
      readonly path?: string | undefined;
    };

const FITS: HostPathVerdict = { kind: "fits" };
const UNKNOWN: HostPathVerdict = { kind: "unknown" };
const wrong = (problem: string, fix: string, path?: string): HostPathVerdict => ({
  ...{ kind: "wrong", problem, fix },
  ...(path !== undefined && { path }),
});
const REGISTRY = "/plugins_registry";
const USUAL_DIRECTORY = `${DEFAULT_KUBELET_ROOT}/plugins/NAME`;

/** Judges the path that kubelet gets by the mounts of this container. Of a pattern only what one mount holds is known. */
export async function judgeByMounts(
  { csiSocketPath: given, endpoint, pluginRegistrationPath: directory }: DriverPaths,
  mounts = readMounts(),
): Promise<HostPathVerdict> {
  if (!given?.startsWith("/") || mounts === undefined) return UNKNOWN;
  const real = await Promise.all([realPathOf(given), realPathOf(directory)]).catch(() => undefined);
  if (real === undefined) return UNKNOWN;
  const [csiSocketPath, pluginRegistrationPath] = real;
  const mountPoints = mounts.map(({ mountPoint }) => mountPoint);
  const isMounted = mountPlaceOf(csiSocketPath, mounts)?.mountPoint !== "/";
  const verdict = judgeHostPath({ csiSocketPath, endpoint, pluginRegistrationPath, mounts });
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
  const facts = factsOf(question);
  const [, verdictOn] = (facts && CASES.find(([holds]) => holds(facts))) ?? [];
  return facts && verdictOn ? verdictOn(facts) : UNKNOWN;
}

type Facts = NonNullable<ReturnType<typeof factsOf>>;

/** What the mounts say of both paths; undefined if nothing can be said. */
function factsOf({ csiSocketPath, mounts, ...question }: HostPathQuestion) {
  const given = question.endpoint.replace(/\/{2,}/g, "/");
  const socket = mountPlaceOf(csiSocketPath, mounts);
  if (socket === undefined || !given.startsWith("/")) return undefined;
  const registry = mountPlaceOf(question.pluginRegistrationPath, mounts);
  const kubelet = kubeletRootOf(socket, registry);
  /** This process runs on the host itself: its paths are kubelet's. */
  const isHost = registry?.isMountPoint === false && mountPlaceOf("/", mounts)?.fileSystem !== "overlay";
  const { path, device, mountPoint, isWholeFileSystem } = socket;
  const subvolume = kubelet.known && kubelet.root?.slice(0, -kubelet.known.length);
  const isOnRoot = isInKnownRoot(path) || isHostsRoot(device, mounts);
  const inSubvolume = subvolume && isWithin(path, subvolume) ? path.slice(subvolume.length) : undefined;
  const { inRoot } = kubelet;
  return {
    ...{ csiSocketPath, given, path, kubelet, isHost },
    isInEmptyDir: path.includes("/kubernetes.io~empty-dir/"),
    isRegistryMounted: registry?.isMountPoint === true && registry.fileSystem !== "overlay",
    /** The socket is in the container's own layers. */
    isLayer: socket.fileSystem === "overlay",
    isWholeDisk: isWholeFileSystem && mountPoint === dirname(csiSocketPath),
    /** The socket's path on the host, where the mounts show it. */
    hostPath: isOnRoot ? path : isHost ? csiSocketPath : inSubvolume,
    /** What `given` has in the place of kubelet's root. */
    givenRoot: inRoot !== undefined && given.endsWith(inRoot) ? given.slice(0, -inRoot.length) : undefined,
  };
}

/** Each verdict with its condition; the first that holds counts. */
const CASES: readonly (readonly [(facts: Facts) => boolean, (facts: Facts) => HostPathVerdict])[] = [
  [({ isInEmptyDir }) => isInEmptyDir, ({ given, path }) => (given === path ? FITS : IN_EMPTY_DIR)],
  [({ isLayer, isRegistryMounted }) => isLayer && isRegistryMounted, notMounted],
  [({ given, hostPath }) => given === hostPath, () => FITS],
  [({ given, isHost, csiSocketPath }) => isHost && given === csiSocketPath, () => FITS],
  [({ isWholeDisk, isLayer }) => isWholeDisk || isLayer, () => UNKNOWN],
  [isEndOnDisk, () => FITS],
  [isAnotherRoot, () => UNKNOWN],
  [() => true, differs],
];

/** `given` may be where the host mounts the socket's disk. No kubelet has / for its root. */
function isEndOnDisk({ given, path, csiSocketPath, hostPath, givenRoot }: Facts): boolean {
  const isContainers = given === csiSocketPath && hostPath !== undefined;
  return given.endsWith(path) && !isContainers && givenRoot !== "";
}

/** `given` has another root of kubelet's than the mounts show, which may be a link to that. */
function isAnotherRoot({ givenRoot, kubelet: { root, known } }: Facts): boolean {
  if (!givenRoot) return false;
  return roots.includes(givenRoot) || (!known && basename(givenRoot) === basename(root ?? ""));
}

function differs({ hostPath, path, kubelet: { inRoot } }: Facts): HostPathVerdict {
  const below = inRoot ? `<kubelet root>${inRoot}` : `<where the host mounts that disk>${path}`;
  const [place, found] = hostPath === undefined ? ["on its disk", path] : ["on the host", hostPath];
  return wrong(
    `${place} the driver's socket is ${found}`,
    `write --kubelet-registration-path=${hostPath ?? below}`,
    hostPath,
  );
}

/** Kubelet's root on the socket's disk, by the registration directory; the socket's path in it; the usual root that it ends with. */
function kubeletRootOf(socket: MountPlace, registry: MountPlace | undefined) {
  const isKubelets = registry?.device === socket.device && registry.path.endsWith(REGISTRY);
  const root = isKubelets ? registry.path.slice(0, -REGISTRY.length) : undefined;
  const inRoot =
    root !== undefined && isWithin(socket.path, root) ? socket.path.slice(root.length) : undefined;
  return { root, inRoot, known: roots.find((known) => root?.endsWith(known)) };
}

const IN_EMPTY_DIR = wrong(
  "the driver's socket is in an emptyDir volume: its host path changes with each pod",
  `make that volume a hostPath: ${USUAL_DIRECTORY}`,
);

function notMounted({ csiSocketPath }: Facts): HostPathVerdict {
  return wrong(
    `no directory of the host is mounted at ${dirname(csiSocketPath)}`,
    `mount the hostPath ${USUAL_DIRECTORY} there, in this container and in the driver's`,
  );
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
