import type { NodeInfo, PluginIdentity, PluginInfo, ProbeResponse } from "../../grpc/protos";
import type { HostPathVerdict } from "../../host-path/host-path";
import type { Place } from "../../host-path/mounts";
import type { NameLists } from "../../registrar/node-wide/name-lists";
import type { NodeReadinessFacts, NodeReadinessTarget } from "./node-readiness-facts";

/** Where to look; paths are absolute and as seen from here. */
export interface Target {
  /** The CSI driver socket; undefined if not given. */
  readonly csiSocketPath: string | undefined;
  /** The kubelet registration path of the same socket; undefined if not given. */
  readonly kubeletRegistrationPath: string | undefined;
  readonly pluginRegistrationPath: string;
  /** Driver sockets as patterns, `/plugins/STAR/csi.sock` with `*` for STAR: every one that fits is looked at. */
  readonly patterns?: readonly string[];
  /** Names that the registrar allows or denies. Default: it takes every one. */
  readonly names?: NameLists;
  /** Where the host's root is seen: `/host` in a debugging pod. Host paths are looked up below it. Default `/`. */
  readonly hostRoot?: string;
  /** Why a registrar would not start with the arguments given; undefined where it would. */
  readonly startProblem?: string | undefined;
  /** Undefined where the registrar is not told to take taints off or to keep a condition. */
  readonly nodeReadiness?: NodeReadinessTarget | undefined;
}

export interface Ownership {
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** What is at a path where a unix socket belongs. */
export type SocketFacts = { readonly path: string } & (
  | { readonly kind: "accepting"; readonly ownership: Ownership; readonly inode: string }
  | {
      readonly kind: "not-accepting";
      readonly ownership: Ownership;
      readonly inode: string;
      readonly errno: string | undefined;
      /** Errno and what it usually means. */
      readonly explanation: string;
    }
  | {
      readonly kind: "missing";
      /** Whether the folder that it should be in is there, so that this is no mere matter of what is mounted here. */
      readonly folderInSight: boolean;
    }
  | { readonly kind: "not-a-socket"; readonly fileType: string }
  | { readonly kind: "out-of-reach"; readonly errno: string }
  | { readonly kind: "too-long"; readonly bytes: number }
);

/** What became of a call. */
export type Answer<Value> =
  | { readonly kind: "answered"; readonly value: Value }
  /** `code` as Go writes it: `DeadlineExceeded`. */
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  /** Nothing that could be asked, or it left an earlier call unanswered. */
  | { readonly kind: "not-asked" };

/** A CSI driver as its socket shows it. */
export interface DriverFacts {
  readonly socket: SocketFacts;
  readonly identity: Answer<PluginIdentity>;
  readonly probe: Answer<ProbeResponse>;
  readonly nodeInfo: Answer<NodeInfo>;
}

/** Where a registration stands, by its registrar's own word. */
export interface RegistrationReport {
  readonly state: string;
  /** Milliseconds since the epoch; undefined where it was not told. */
  readonly since: number | undefined;
  readonly reason: string | undefined;
}

/** One socket in the registration directory, or something else in the place of one. */
export interface RegistrationFacts {
  readonly socket: SocketFacts;
  readonly info: Answer<PluginInfo>;
  /** Where the registration stands, as registrars of this project tell; undefined of all others. */
  readonly report: RegistrationReport | undefined;
  /** Where a CSI driver is said to be; undefined where there is no such answer. */
  readonly endpoint: Pick<DriverFacts, "socket" | "identity"> | undefined;
}

/** The plugin registration directory. */
export type DirectoryFacts = { readonly path: string } & (
  | { readonly kind: "missing" }
  | { readonly kind: "not-a-folder"; readonly fileType: string }
  | { readonly kind: "out-of-reach"; readonly errno: string }
  | {
      readonly kind: "folder";
      readonly ownership: Ownership;
      /** Errno of listing it; undefined where that works. */
      readonly unlistable: string | undefined;
      /** Errno of asking for the right to write, ENOSPC where no inode is left; undefined where a file could be made. */
      readonly unwritable: string | undefined;
      /** Errno of watching it with inotify; undefined where that works. */
      readonly unwatchable: string | undefined;
      /** Where it lies behind all mounts; undefined where that cannot be seen. */
      readonly place: Place | undefined;
      /** Kubelet's device plugin socket beside it: there when it is seen as a part of kubelet's root. */
      readonly kubeletSocket: SocketFacts;
    }
);

/** What the machine or container is like. */
export interface HostFacts {
  /** Undefined where there are none. */
  readonly uid: number | undefined;
  readonly selinux: SelinuxFacts;
  /** Registration directories of known kubelets that exist here besides the one looked at. */
  readonly otherDirectories: readonly string[];
}

export type SelinuxFacts =
  /** No Linux, or /proc is hidden. */
  | { readonly kind: "unknown" }
  | { readonly kind: "off" }
  | {
      readonly kind: "on";
      /** Undefined where /sys/fs/selinux is not visible, as in most containers. */
      readonly mode: "enforcing" | "permissive" | undefined;
      /** Our own label, `system_u:system_r:container_t:s0`; undefined where it cannot be read. */
      readonly label: string | undefined;
    };

/** Everything that was seen; what it means is for the checks to say. */
export interface Facts {
  readonly target: Target;
  readonly driver: DriverFacts | undefined;
  /**
   * What the mounts say of the driver's path on the host; undefined where nothing was told, where they say nothing, and
   * where no socket is at the path that was told: then it may be the wrong one.
   */
  readonly hostPath: HostPathVerdict | undefined;
  /**
   * The other living sockets, accepting or with a full listen queue, under kubelet's `plugins`, and those that fit a
   * pattern.
   */
  readonly found: readonly DriverFacts[];
  /** Dead sockets that fit a pattern. */
  readonly deadSockets: readonly SocketFacts[];
  /** What is at the kubelet registration path, seen from here. */
  readonly kubeletPath: SocketFacts | undefined;
  readonly directory: DirectoryFacts;
  readonly registrations: readonly RegistrationFacts[];
  readonly host: HostFacts;
  /** Undefined where the registrar does not see to it. */
  readonly nodeReadiness: NodeReadinessFacts | undefined;
}
