import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "./kubelet-roots";
import { isWithin, type Mount, placeOf } from "./mounts";

/** Both names of one driver socket, and the mount table that joins them. Paths are absolute, without symbolic links. */
export interface HostPathQuestion {
  /** As this mount namespace has it; a `*` of a pattern is a character as any other. */
  readonly csiSocketPath: string;
  /** As kubelet is told. */
  readonly kubeletRegistrationPath: string;
  /** Kubelet's plugin registration directory as this mount namespace has it: its mount tells what kubelet's root is. */
  readonly pluginRegistrationPath: string;
  readonly mounts: readonly Mount[];
}

/** Whether kubelet, on the host, finds the driver's socket where it is told to look. */
export type HostPathVerdict =
  | { readonly kind: "fits" }
  | { readonly kind: "unknown" }
  /** It is elsewhere: `hostPath` is what to tell kubelet instead. */
  | { readonly kind: "differs"; readonly hostPath: string }
  /** The socket lies in an emptyDir volume, whose path on the host has the pod's UID in it. */
  | { readonly kind: "empty-dir" }
  /** The socket lies in the container's own layer, which is nowhere on the host that kubelet could be told. */
  | { readonly kind: "not-mounted"; readonly folder: string };

/**
 * Judges the path that kubelet is told by the mounts: a hostPath volume shows in the mount table with the folder that
 * it has on the host. Only where that contradicts the path is it said to differ; symbolic links and bind mounts of the
 * host are given the benefit of the doubt, as long as the path leads through something like kubelet's root.
 */
export function judgeHostPath(question: HostPathQuestion): HostPathVerdict {
  const { csiSocketPath, pluginRegistrationPath, mounts } = question;
  const told = question.kubeletRegistrationPath.replace(/\/{2,}/g, "/");
  const socket = placeOf(csiSocketPath, mounts);
  const registry = placeOf(pluginRegistrationPath, mounts);
  if (socket === undefined || !told.startsWith("/")) return { kind: "unknown" };
  if (socket.path.includes("/kubernetes.io~empty-dir/"))
    return told === socket.path ? { kind: "fits" } : { kind: "empty-dir" };
  if (socket.fileSystem === "overlay" && registry?.isMountPoint && registry.fileSystem !== "overlay")
    return { kind: "not-mounted", folder: parentOf(csiSocketPath) };
  if (socket.isWholeFileSystem && socket.mountPoint === parentOf(csiSocketPath)) return { kind: "unknown" };
  // The host may have the file system mounted somewhere; but what has a kubelet's whole path already is complete.
  const isComplete = isInKnownRoot(socket.path) && !isInKnownRoot(told);
  if (told.endsWith(socket.path) && !isComplete) return { kind: "fits" };
  if (socket.fileSystem === "overlay") return { kind: "unknown" };

  const registryRoot = registry?.device === socket.device ? parentOf(registry.path) : undefined;
  if (registryRoot === undefined) return { kind: "differs", hostPath: socket.path };
  const root = kubeletRootFor(registryRoot);
  if (!isWithin(socket.path, registryRoot) || registryRoot === "/") {
    const prefix = root.endsWith(registryRoot) ? root.slice(0, -registryRoot.length) : "";
    return { kind: "differs", hostPath: `${prefix}${socket.path}` };
  }
  const inRoot = socket.path.slice(registryRoot.length);
  const isRootLike = (path: string) =>
    isKnownRoot(path) || (!isKnownRoot(registryRoot) && baseOf(path) === baseOf(registryRoot));
  if (told.endsWith(inRoot) && isRootLike(told.slice(0, -inRoot.length))) return { kind: "fits" };
  return { kind: "differs", hostPath: `${root}${inRoot}` };
}

/** What is wrong, in words that follow "kubelet will not find the driver: ", and what to write; undefined: nothing is. */
export function explainHostPath(
  verdict: HostPathVerdict,
): { readonly problem: string; readonly fix: string } | undefined {
  switch (verdict.kind) {
    case "fits":
    case "unknown":
      return undefined;
    case "differs":
      return {
        problem: `on the host the driver's socket is ${verdict.hostPath}`,
        fix: `--kubelet-registration-path=${verdict.hostPath}`,
      };
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

const roots: readonly string[] = [DEFAULT_KUBELET_ROOT, ...Object.values(KUBELET_ROOTS)];
const isKnownRoot = (path: string) => roots.includes(path);
const isInKnownRoot = (path: string) => roots.some((root) => isWithin(path, root));

/**
 * Kubelet's root as the host has it, where its file system has it at `path`: a file system may be mounted on the host
 * at /var, or the host be a container itself.
 */
function kubeletRootFor(path: string): string {
  if (isKnownRoot(path)) return path;
  const tail = path.split("/").slice(1).slice(-2).join("/");
  return roots.find((root) => root.endsWith(`/${tail}`)) ?? path;
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf("/")) || "/";
const baseOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
