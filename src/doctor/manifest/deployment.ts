import { messageOf } from "../../base/errors";
import { isWithin } from "../../host-path/mounts";

/** The official registrar, by the name of an image. */
export interface OfficialImage {
  /** v2.17 is 217; undefined where the tag does not say. */
  readonly release: number | undefined;
}

/** Reads arguments as the registrar would that they are for: ours, unless it is the official one. */
export type ReadSettings = (args: readonly string[], official?: OfficialImage) => RegistrarSettings;

/** What a registrar's arguments come to. */
export interface RegistrarSettings {
  /** Why the registrar would not start with them, and what to do; undefined where it would. */
  readonly refusal: { readonly problem: string; readonly advice: string } | undefined;
  /** Why it cannot be said whether it would start; undefined where it can. */
  readonly doubt: string | undefined;
  readonly csiAddress: string;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
  /** Where the HTTP endpoint listens, on all interfaces where no host is given; undefined for none. */
  readonly http: { readonly host: string | undefined; readonly port: number } | undefined;
  readonly metricsPath: string;
  /** Whether the environment has to say which node it is. */
  readonly needsNodeName: boolean;
  /** The words behind the flags, with which it does nothing, and what to do about them; undefined for none. */
  readonly ignored: { readonly words: readonly [string, ...string[]]; readonly advice: string } | undefined;
  /** What it does with them; undefined where it cannot read them. */
  readonly task: "register" | "probe" | "print" | undefined;
}

/** A volume of a container, with the folder of the host behind it where it is one. */
export interface MountedFolder {
  readonly mountPath: string;
  readonly readOnly: boolean;
  readonly volume: string;
  /** Undefined for another volume than a hostPath, or one that the pod lacks. */
  readonly hostPath: string | undefined;
  /** `hostPath`, `emptyDir`, ...; undefined for one that is not in the pod. */
  readonly volumeKind: string | undefined;
  readonly hostPathType: string | undefined;
}

/** A probe of a container. */
export interface ProbeFacts {
  readonly kind: "livenessProbe" | "readinessProbe" | "startupProbe";
  /** What kubelet does: it runs a command in the container, or asks over the network. */
  readonly asks: "exec" | "gRPC" | "HTTP" | "HTTPS" | "TCP";
  /** Whom it asks in place of the pod's address. */
  readonly host: string | undefined;
  /** As a number, where a name leads to one. */
  readonly port: number | undefined;
  /** The name in place of a number, where no port of the container is called so. */
  readonly unknownPort: string | undefined;
  /** Of HTTP and HTTPS. */
  readonly path: string | undefined;
  /** Of exec. */
  readonly command: readonly string[];
  /** What the command's words come to, where it is the registrar. */
  readonly settings: RegistrarSettings | undefined;
}

/** What a label of a node must be. */
export interface NodeRequirement {
  readonly key: string;
  /** As Kubernetes calls it: `In`, `NotIn`, `Exists`, ... */
  readonly operator: string;
  readonly values: readonly string[];
}

/** Choices of which a node has to fit one; to fit it, it has to meet each requirement. */
export type NodeRules = readonly (readonly NodeRequirement[])[];

/** A variable that nothing fills in. */
export interface LiteralVariable {
  readonly name: string;
  /** Whether it is in the environment, behind the one that takes it. */
  readonly isLate: boolean;
  /** The variable that was probably meant. */
  readonly meant: string | undefined;
}

/** One container with a registrar in an object of a manifest. */
export interface Deployment {
  /** `daemonset.yaml: DaemonSet kube-system/csi-x-node, container registrar`. */
  readonly place: string;
  readonly objectKind: string;
  readonly container: string;
  /** Whether it is the official registrar, by its image. */
  readonly isOfficial: boolean;
  /** Why the settings are not known, and what to do: a shell starts the registrar, say. Undefined where they are. */
  readonly unseen: { readonly why: string; readonly advice: string } | undefined;
  readonly settings: RegistrarSettings;
  /** Fields that the API server wants as text, and that have another type. */
  readonly noTexts: readonly { readonly value: string; readonly where: string }[];
  /** Variables in paths that stay as they are, as nothing fills them in. */
  readonly literals: readonly LiteralVariable[];
  /** Whether its environment says which node it is, or has parts that are not in the object. */
  readonly mayKnowNodeName: boolean;
  readonly mounts: readonly MountedFolder[];
  readonly probes: readonly ProbeFacts[];
  readonly memoryLimit: { readonly bytes: number; readonly text: string } | undefined;
  readonly preStop: readonly string[] | undefined;
  readonly runAsUser: number | undefined;
  /** Which security context has it on, the pod's first; undefined for neither. */
  readonly runAsNonRoot: "pod" | "container" | undefined;
  readonly hostNetwork: boolean;
  /** On which nodes its pods may run. */
  readonly nodes: NodeRules;
  readonly maxSurge: number | string | undefined;
  /** Whether a driver is in the same pod. */
  readonly hasDriver: boolean;
}

/** An object that was read, and where. */
export interface ReadObject {
  /** Undefined where it was in no file. */
  readonly file: string | undefined;
  readonly object: unknown;
}

/** A file or object that could not be judged. */
export interface Unread {
  readonly place: string;
  readonly why: string;
}

/** Makes what could not be judged out of the error that stopped it. */
export function unreadAt(place: string, error: unknown): Unread {
  return { place, why: error instanceof RangeError ? "it is nested too deeply" : messageOf(error) };
}

/** Every object of the manifests. */
export interface ManifestFacts {
  readonly unread: readonly Unread[];
  readonly deployments: readonly Deployment[];
  /** Those for Windows, where paths and volumes have other rules. */
  readonly forWindows: readonly Deployment[];
  /** Names of the CSIDriver objects. */
  readonly csiDrivers: readonly string[];
}

/** The mount that holds a path of the container; undefined where nothing is mounted there. */
export function mountOf(path: string, mounts: readonly MountedFolder[]): MountedFolder | undefined {
  return [...mounts]
    .sort((one, other) => other.mountPath.length - one.mountPath.length)
    .find(({ mountPath }) => isWithin(path, mountPath));
}

/** What the host calls a path of the container; undefined where that is not known. */
export function onHost(path: string, mounts: readonly MountedFolder[]): string | undefined {
  const mount = mountOf(path, mounts);
  if (mount?.hostPath === undefined) return undefined;
  const rest = mount.mountPath === "/" ? path : path.slice(mount.mountPath.length);
  return `${mount.hostPath === "/" ? "" : mount.hostPath}${rest}`;
}
