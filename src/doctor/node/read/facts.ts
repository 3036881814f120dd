import type { Stats } from "node:fs";
import type {
  NodeCapabilities,
  NodeInfo,
  PluginIdentity,
  PluginInfo,
  ProbeResponse,
  StorageHealth,
} from "../../../grpc/protos";
import type { HostPathVerdict } from "../../../host-path/host-path";
import type { NameLists } from "../../../registrar/node-wide/name-lists";
import type { RegistrationReport } from "../../../registrar/registration/self-check";
import type { MountPlace } from "../../../unix/mounts";
import type { NodeReadinessFacts, NodeReadinessTarget } from "./node-readiness";

/** Where to look; paths are absolute and as seen from here. */
export interface Target {
  readonly csiSocketPath: string | undefined;
  readonly kubeletRegistrationPath: string | undefined;
  readonly pluginRegistrationPath: string;
  /** The pattern of driver sockets, such as `/plugins/STAR/csi.sock` with `*` for STAR. */
  readonly pattern?: string | undefined;
  /** Names that the registrar allows or denies. Default: all are allowed. */
  readonly names?: NameLists;
  /** Where the host's root is mounted: `/host` in a debugging pod. Default `/`. */
  readonly hostRoot?: string;
  /** Why a registrar would not start with the arguments given; undefined if it would. */
  readonly startProblem?: string | undefined;
  /** Undefined without `--remove-startup-taint` and `--node-condition`. */
  readonly nodeReadiness?: NodeReadinessTarget | undefined;
}

/** `mode`: permission bits. */
export type Ownership = Readonly<Pick<Stats, "mode" | "uid" | "gid">>;

export type SocketFacts = {
  readonly path: string;
  /** Device and inode of a socket, which two paths may share. */
  readonly inode?: string;
  readonly errno?: string | undefined;
} & (
  | { readonly kind: "accepting"; readonly ownership: Ownership; readonly inode: string }
  | {
      readonly kind: "not-accepting";
      readonly ownership: Ownership;
      readonly inode: string;
      /** Errno and what it usually means. */
      readonly explanation: string;
    }
  /** `folderInSight`: its folder exists here, so the socket does not lie behind an unseen mount. */
  | { readonly kind: "missing"; readonly folderInSight: boolean }
  | { readonly kind: "not-a-socket"; readonly fileType: string }
  | { readonly kind: "out-of-reach"; readonly errno: string }
  | { readonly kind: "too-long"; readonly bytes: number }
);

export type Answer<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  /** `code` as Go writes it: `DeadlineExceeded`. */
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  /** No process listens, or an earlier call failed. */
  | { readonly kind: "not-asked" };

export interface SeenDriver {
  readonly socket: SocketFacts;
  readonly identity: Answer<PluginIdentity>;
  readonly probe: Answer<ProbeResponse>;
  readonly nodeInfo: Answer<NodeInfo>;
  readonly capabilities: Answer<NodeCapabilities>;
  /** Not asked of a driver that does not announce the call. */
  readonly storageHealth: Answer<StorageHealth>;
}

/** One socket in the registration directory, or something else in the place of one. */
export interface RegistrationFacts {
  readonly socket: SocketFacts;
  readonly info: Answer<PluginInfo>;
  /** Undefined for other registrars, such as the official one. */
  readonly report: RegistrationReport | undefined;
  /** What is at a CSI driver's endpoint; undefined without an absolute endpoint. */
  readonly endpoint: Pick<SeenDriver, "socket" | "identity"> | undefined;
}

/** A process with a registrar, of any project, for the registration directory that is looked at. */
export interface RunningRegistrar {
  readonly pid: number;
  readonly isNodeWide: boolean;
  /** The driver's socket as kubelet gets it. */
  readonly endpoint: string;
  /** The driver's socket as the registrar sees it; its path is of the registrar's own file system. */
  readonly socket: SocketFacts;
}

/** A mount that was not looked at, because its server may not answer. */
export interface LeftOut {
  readonly path: string;
  /** `nfs4`, `fuse.s3fs`. */
  readonly fileSystem: string;
}

/** A pod of this node that kubelet has not started, with inline volumes. */
export interface UnstartedPod {
  /** `namespace/name` */
  readonly pod: string;
  /** Those of its inline volumes. */
  readonly drivers: readonly string[];
}

export type DirectoryFacts = { readonly path: string } & (
  | { readonly kind: "missing" }
  | { readonly kind: "not-a-folder"; readonly fileType: string }
  | { readonly kind: "out-of-reach"; readonly errno: string }
  | {
      readonly kind: "folder";
      readonly ownership: Ownership;
      /** Errno of listing it; undefined if it can be listed. */
      readonly unlistable: string | undefined;
      /** Errno of asking for the right to write, ENOSPC without a free inode; undefined if a file could be made. */
      readonly unwritable: string | undefined;
      /** Errno of watching it with inotify; undefined if it can be watched. */
      readonly unwatchable: string | undefined;
      /** Its place in the mount table; undefined if that cannot be read. */
      readonly place: MountPlace | undefined;
      /** Kubelet's device plugin socket, seen only where all of kubelet's root is. */
      readonly kubeletSocket: SocketFacts;
    }
);

export type SelinuxFacts =
  /** No Linux, or /proc is hidden. */
  | { readonly kind: "unknown" }
  | { readonly kind: "off" }
  | {
      readonly kind: "on";
      /** Undefined where /sys/fs/selinux is not visible, as in most containers. */
      readonly mode: "enforcing" | "permissive" | undefined;
      /** Our own label, `system_u:system_r:container_t:s0`; undefined if it cannot be read. */
      readonly label: string | undefined;
    };

export interface Facts {
  readonly target: Target;
  readonly driver: SeenDriver | undefined;
  /** The kubelet registration path, judged by the mounts; undefined without it, and without a socket to judge it by. */
  readonly hostPath: HostPathVerdict | undefined;
  /** The other living drivers: under kubelet's `plugins`, or fitting a pattern. Their listen queue may be full. */
  readonly found: readonly SeenDriver[];
  readonly deadSockets: readonly SocketFacts[];
  /** The paths of the sockets below kubelet's root as the host has them, by inode. */
  readonly socketsOnHost: ReadonlyMap<string, string>;
  /** What is at the kubelet registration path, seen from here. */
  readonly kubeletPath: SocketFacts | undefined;
  readonly directory: DirectoryFacts;
  readonly registrations: readonly RegistrationFacts[];
  readonly leftOut: readonly LeftOut[];
  /** The processes with a registrar that are seen from here. */
  readonly registrars: readonly RunningRegistrar[];
  readonly host: {
    /** The doctor's user ID; undefined on a system without user IDs. */
    readonly uid: number | undefined;
    readonly selinux: SelinuxFacts;
    /** The registration directories of other known kubelets that exist here. */
    readonly otherDirectories: readonly string[];
  };
  readonly nodeReadiness: NodeReadinessFacts | undefined;
  /** By kubelet's Pods API; undefined where none is seen. */
  readonly pods: Answer<readonly UnstartedPod[]> | undefined;
}

/** Whether no process listens on a socket. */
export function isDead(socket: SocketFacts): boolean {
  return socket.kind === "not-accepting" && socket.errno === "ECONNREFUSED";
}

/** Whether a socket's listen queue is full: its process hangs. */
export function isStuck({ errno }: SocketFacts): boolean {
  return errno === "EAGAIN";
}

/** Whether there is certainly no socket at a path. */
export function hasNoSocket({ kind }: SocketFacts): boolean {
  return kind === "missing" || kind === "not-a-socket";
}

export function answerIn<Value>(answer: Answer<Value>): Value | undefined {
  return answer.kind === "answered" ? answer.value : undefined;
}

type NodeCapability = NonNullable<NodeCapabilities["capabilities"][number]["rpc"]>["type"];

/** Whether a driver's answer to NodeGetCapabilities has this one. */
export function announces(answer: SeenDriver["capabilities"], wanted: NodeCapability): boolean {
  return answerIn(answer)?.capabilities.some(({ rpc }) => rpc?.type === wanted) ?? false;
}
