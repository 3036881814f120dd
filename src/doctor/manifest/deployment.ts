import { messageOf } from "../../base/errors";
import { isWithin } from "../../host-path/mounts";
import { text, tree } from "../rules/objects";
import type { NodeRules } from "./node-rules";

/** The official registrar, by the name of an image. */
export interface OfficialImage {
  /** v2.17 is 217; undefined where the tag does not say. */
  readonly release: number | undefined;
}

/** Reads arguments as their registrar does: ours, unless `official` is given. */
export type ReadSettings = (args: readonly string[], official?: OfficialImage) => RegistrarSettings;

/** How a registrar reads its arguments. */
export interface RegistrarSettings {
  /** Why the registrar does not start with them, and what to do; undefined: it starts. */
  readonly refusal: { readonly problem: string; readonly advice: string } | undefined;
  /** Why the arguments do not tell whether it starts. */
  readonly doubt: string | undefined;
  readonly csiAddress: string;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
  /** The HTTP endpoint; without a host it listens on all interfaces. */
  readonly http: { readonly host: string | undefined; readonly port: number } | undefined;
  readonly metricsPath: string;
  /** The registrar requires the node's name from its environment. */
  readonly needsNodeName: boolean;
  /** The words behind the flags, which the registrar ignores. */
  readonly ignored: { readonly words: readonly [string, ...string[]]; readonly advice: string } | undefined;
  /** Undefined: the registrar cannot parse the arguments. */
  readonly task: "register" | "probe" | "print" | undefined;
}

/** A volume mount of a container. */
export interface MountedFolder {
  readonly mountPath: string;
  readonly readOnly: boolean;
  readonly volume: string;
  /** The host's folder; undefined for other volumes than a hostPath. */
  readonly hostPath: string | undefined;
  /** `hostPath`, `emptyDir`, ...; undefined: the pod has no such volume. */
  readonly volumeKind: string | undefined;
}

/** A probe of a container. */
export interface ProbeFacts {
  readonly kind: "livenessProbe" | "readinessProbe" | "startupProbe";
  /** Kubelet runs a command in the container (exec), or connects to a port. */
  readonly asks: "exec" | "gRPC" | "HTTP" | "HTTPS" | "TCP";
  /** Undefined: kubelet connects to the pod's address. */
  readonly host: string | undefined;
  /** A named port is resolved. */
  readonly port: number | undefined;
  /** The name of a port that the container does not have. */
  readonly unknownPort: string | undefined;
  /** Of HTTP and HTTPS. */
  readonly path: string | undefined;
  /** Of exec. */
  readonly command: readonly string[];
  /** How the registrar reads the command; undefined: the command is another program's. */
  readonly settings: RegistrarSettings | undefined;
}

/** Something that is wrong, and what to do. */
export interface Fault {
  readonly why: string;
  readonly advice: string;
}

/** A variable in an argument that has no value when kubelet fills the argument in. */
export interface LiteralVariable extends Fault {
  readonly name: string;
}

/** One container with a registrar in an object of a manifest. */
export interface Deployment {
  /** `daemonset.yaml: DaemonSet kube-system/csi-x-node, container registrar`. */
  readonly place: string;
  readonly objectKind: string;
  readonly container: string;
  /** By its image. */
  readonly isOfficial: boolean;
  /** Windows has other rules for paths and volumes. */
  readonly isForWindows: boolean;
  /** Why the settings are not known, for example because a shell starts the registrar. */
  readonly unseen: Fault | undefined;
  readonly settings: RegistrarSettings;
  /** Values of another type than string where the API server requires a string. */
  readonly noTexts: readonly { readonly value: string; readonly where: string }[];
  /** In the driver's paths. */
  readonly literals: readonly LiteralVariable[];
  /** The environment has the node's name, or is partly defined elsewhere. */
  readonly mayKnowNodeName: boolean;
  readonly mounts: readonly MountedFolder[];
  readonly probes: readonly ProbeFacts[];
  /** A Kubernetes quantity; empty: no limit. */
  readonly memoryLimit: string;
  readonly preStop: readonly string[];
  readonly runAsUser: number | undefined;
  /** The security context that sets it, the pod's first. */
  readonly runAsNonRoot: "pod" | "container" | undefined;
  readonly hostNetwork: boolean;
  /** The nodes on which its pods may run. */
  readonly nodes: NodeRules;
  /** A number or a percentage; empty: the default, 0. */
  readonly maxSurge: string;
  /** The pod has a container that is not a registrar. */
  readonly hasDriver: boolean;
}

/** An object of a manifest. */
export interface ReadObject {
  readonly file: string;
  readonly object: unknown;
}

/** `NAMESPACE/NAME`; the name alone of an object without a namespace. */
export function nameOf(object: unknown): string {
  const { namespace, name } = tree(tree(object).metadata);
  return [namespace, name].map(text).filter(Boolean).join("/");
}

/** A file or object that could not be judged. */
export interface Unread {
  readonly place: string;
  readonly why: string;
}

export function unreadAt(place: string, error: unknown): Unread {
  return { place, why: error instanceof RangeError ? "it is nested too deeply" : messageOf(error) };
}

/** What the checks of a manifest judge. */
export interface ManifestFacts {
  readonly unread: readonly Unread[];
  readonly deployments: readonly Deployment[];
  /** Names of the CSIDriver objects. */
  readonly csiDrivers: readonly string[];
}

/** The innermost mount that holds a path of the container. */
export function mountOf(path: string, mounts: readonly MountedFolder[]): MountedFolder | undefined {
  return [...mounts]
    .sort((one, other) => other.mountPath.length - one.mountPath.length)
    .find(({ mountPath }) => isWithin(path, mountPath));
}

/** The host's path of a path in the container; undefined unless it is on a hostPath volume. */
export function onHost(path: string, mounts: readonly MountedFolder[]): string | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.hostPath === undefined) return undefined;
  const rest = mount.mountPath === "/" ? path : path.slice(mount.mountPath.length);
  return `${mount.hostPath === "/" ? "" : mount.hostPath}${rest}`;
}
