import type { Unread as UnreadObject } from "../manifest/deployment";
import type { Deployment } from "../manifest/read-deployments";

// Of each object only what the checks judge is kept, so that a large cluster fits into little memory.

/** A DaemonSet whose pods have a registrar. */
export interface RegistrarSet {
  readonly uid: string;
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  /** The `labelSelector` of a list of its pods. */
  readonly selector: string;
  /** Its containers with a registrar. */
  readonly registrars: readonly Deployment[];
  /** The number of nodes on which it wants a pod, and of those on which it has one. */
  readonly desired: number;
  readonly current: number;
  /** Every argument and environment value of its containers: one of them may be the driver's name. */
  readonly words: ReadonlySet<string>;
}

/** Why a pod does not work: the scheduler finds no node, a container cannot start, or it ends again and again. */
export interface PodTrouble {
  readonly kind: "unscheduled" | "blocked" | "restarting";
  readonly reason: string;
  /** Of `restarting`. */
  readonly restarts?: Restarts;
}

/** How a container that restarts ended the last time. */
export interface Restarts {
  readonly container: string;
  readonly isRegistrar: boolean;
  /** `Error`, `OOMKilled`; empty if unknown. */
  readonly reason: string;
  readonly exitCode: number | undefined;
  /** The termination message; empty if there is none. */
  readonly message: string;
}

/** A pod of such a DaemonSet. */
export interface RegistrarPod {
  readonly setUid: string;
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  /** Its node, or the one that it is meant for; undefined if unknown. */
  readonly node: string | undefined;
  readonly trouble: PodTrouble | undefined;
  /** When its last registrar's container started, in Unix time; undefined unless all of them run. */
  readonly startedMs: number | undefined;
}

/** A Node, as far as a driver's registration shows on it. */
export interface NodeFacts {
  readonly name: string;
  /** Kubelet reports to the API server. */
  readonly isReady: boolean;
  /** Driver -> node ID, from kubelet's annotation `csi.volume.kubernetes.io/nodeid`. */
  readonly nodeIds: ReadonlyMap<string, string>;
}

/** What waits for a driver on a node. */
export interface Need {
  readonly node: string;
  readonly driver: string;
  /** `NAMESPACE/NAME` of the pods that wait for a volume. */
  readonly pods: readonly string[];
  /** The number of VolumeAttachments. */
  readonly attachments: number;
}

/** A list that could not be read to its end. */
export interface Unread {
  /** As RBAC names it: `csinodes`. */
  readonly resource: string;
  readonly apiGroup: string;
  /** RBAC does not allow it. */
  readonly isForbidden: boolean;
  readonly message: string;
  /** What is unknown without it. */
  readonly unknown: string;
}

/** Restricts the report to one node or driver; undefined: all. */
export interface ClusterTarget {
  readonly context: string | undefined;
  readonly node: string | undefined;
  readonly driver: string | undefined;
}

/** Everything that was read. Undefined: the list could not be read. */
export interface ClusterReading {
  readonly target: ClusterTarget;
  /** The API server's time. */
  readonly nowMs: number;
  readonly sets: readonly RegistrarSet[];
  /** Objects that cannot be judged. */
  readonly unreadObjects: readonly UnreadObject[];
  readonly pods: readonly RegistrarPod[];
  readonly nodes: ReadonlyMap<string, NodeFacts> | undefined;
  /** Node -> driver -> node ID, from the CSINode objects. */
  readonly csiNodes: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;
  /** Names of the CSIDriver objects. */
  readonly csiDrivers: ReadonlySet<string> | undefined;
  readonly needs: readonly Need[];
  readonly unread: readonly Unread[];
}
