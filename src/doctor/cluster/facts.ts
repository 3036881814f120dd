import type { Deployment, Unread as UnreadObject } from "../manifest/deployment";

// What was read of a cluster: no more of each object than is judged, so that a large cluster fits into little memory.

/** A DaemonSet whose pods have a registrar. */
export interface RegistrarSet {
  readonly uid: string;
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  /** What `labelSelector` takes to find its pods. */
  readonly selector: string;
  /** Its containers with a registrar. */
  readonly registrars: readonly Deployment[];
  /** On how many nodes it wants a pod, and has one (its status). */
  readonly desired: number;
  readonly current: number;
  /** Every argument and environment value of its containers: one of them may be the driver's name. */
  readonly words: ReadonlySet<string>;
}

/** Why a pod does not do what it is there for. */
export type PodTrouble =
  /** The scheduler found no place. */
  | { readonly kind: "unscheduled"; readonly message: string }
  /** A container cannot be started: its image, its configuration, its volumes. */
  | {
      readonly kind: "blocked";
      readonly container: string;
      readonly reason: string;
      readonly message: string;
    }
  /** A container ended and is started again and again. */
  | ({ readonly kind: "restarting" } & Restarts);

/** How a container that restarts ended the last time. */
export interface Restarts {
  readonly container: string;
  readonly isRegistrar: boolean;
  readonly times: number;
  /** `Error`, `OOMKilled`; empty if unknown. */
  readonly reason: string;
  readonly exitCode: number | undefined;
  /** Its termination message: its own last words. Empty where it left none. */
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
  /** When the registrar's container, or the last of them, was started; undefined where one does not run. */
  readonly startedMs: number | undefined;
}

/** A Node, as far as a driver's registration shows on it. */
export interface NodeFacts {
  readonly name: string;
  /** Kubelet reports to the API server. */
  readonly isReady: boolean;
  /** Driver -> node ID, as kubelet writes them into the annotation `csi.volume.kubernetes.io/nodeid`. */
  readonly nodeIds: ReadonlyMap<string, string>;
}

/** What cannot go on without a driver on a node. */
export interface Need {
  readonly node: string;
  readonly driver: string;
  /** `NAMESPACE/NAME` of the pods that wait for a volume. */
  readonly pods: readonly string[];
  /** How many VolumeAttachments there are. */
  readonly attachments: number;
}

/** A list that could not be read, or not to its end. */
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

/** Everything that was read. */
export interface ClusterReading {
  readonly target: ClusterTarget;
  /** The API server's time. */
  readonly nowMs: number;
  readonly sets: readonly RegistrarSet[];
  /** Objects that cannot be judged. */
  readonly unreadObjects: readonly UnreadObject[];
  readonly pods: readonly RegistrarPod[];
  /** Undefined where they may not be read. */
  readonly nodes: ReadonlyMap<string, NodeFacts> | undefined;
  /** Node -> driver -> node ID, as CSINode objects have them; undefined where they may not be read. */
  readonly csiNodes: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;
  /** Names of the CSIDriver objects; undefined where they may not be read. */
  readonly csiDrivers: ReadonlySet<string> | undefined;
  readonly needs: readonly Need[];
  readonly unread: readonly Unread[];
}
