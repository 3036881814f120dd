/** The oldest minor version of Kubernetes 1 that is supported; the registrar itself also works with older kubelets. */
export const OLDEST_SUPPORTED_MINOR = 34;

/** The kubelets that are simulated: the last release before each change that a plugin can see, and the newest. */
export type SimulatedVersion = "1.20" | "1.24" | "1.28" | "1.33" | "1.34" | "1.35" | "1.36" | "1.37";

/** Stands for every later kubelet, too. */
export const NEWEST_SIMULATED = "1.37" satisfies SimulatedVersion;

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
type Minor = `1${Exclude<Digit, 0 | 1 | 2>}` | `${Exclude<Digit, 0 | 1>}${Digit}`;

/** A kubelet's version from 1.13 on: `1.30`, `v1.30.4`, or as a vendor's node reports it, `v1.36.1+k3s1`. */
export type KubeletVersion =
  | `${"" | "v"}1.${Minor}`
  | `${"" | "v"}1.${Minor}.${number}${"" | `${"-" | "+"}${string}`}`;

/**
 * The simulated kubelet that behaves like this version; undefined before 1.13, which introduced plugin registration. What
 * follows the patch release, a build or a vendor's suffix, does not matter.
 */
export function simulatedVersion(version: string): SimulatedVersion | undefined {
  const [, digits] = /^v?1\.(\d{1,3})(?:\.\d+(?:[-+][0-9A-Za-z.+-]+)?)?$/.exec(version) ?? [];
  const minor = Number(digits);
  if (!(minor >= 13)) return undefined;
  if (minor <= 20) return "1.20";
  if (minor <= 25) return "1.24";
  if (minor <= 28) return "1.28";
  if (minor <= 33) return "1.33";
  return SIMULATED_VERSIONS.find((simulated) => simulated === `1.${minor}`) ?? NEWEST_SIMULATED;
}

/**
 * What a caller sends as HTTP/2's `:authority`, which has no meaning on a unix socket: the word, the socket's path
 * percent-encoded (grpc-go since 1.57), or the raw path, which violates RFC 3986, so that Node's HTTP/2 server rejects it.
 */
type AuthorityStyle = "localhost" | "encoded-path" | "path";

/** Whether kubelet's refusal of versions says who reported them. */
export type VersionsWording = "by-driver" | "by-any";

export interface KubeletBehaviour {
  /**
   * On the registration socket: `pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go` gives no
   * authority, so it is grpc-go's choice: 1.27 in kubelet 1.20, 1.40 in 1.24, 1.56 in 1.28, 1.72 and later since 1.35.
   */
  readonly registrationAuthority: AuthorityStyle;
  /** On the CSI driver's socket: `newGrpcConn` in `pkg/volume/csi/csi_client.go`, `localhost` since 1.26. */
  readonly driverAuthority: AuthorityStyle;
  /** What grpc-go says before it says why it could not connect: `newHTTP2Client` in `internal/transport/http2_client.go`. */
  readonly dialFailureWording: "Error while dialing" | "Error while dialing:";
  /** What grpc-go says of a server that does not answer with HTTP/2: later than 1.40 why not. */
  readonly handshakeFailureWording: "connection closed" | "error reading server preface";
  /** How grpc-go calls a read of a connection that it closes meanwhile: since 1.82 it reads by a `syscall.RawConn`. */
  readonly closedReadWording: "read" | "raw-read";
  /** What grpc-go says of a connection that the server closed in a call. */
  readonly lostConnectionWording: "transport is closing" | "error reading from server: EOF";
  /**
   * What grpc-go says of an answer of the registrar that is not protobuf, and whether texts in it must be UTF-8: with gogo/protobuf
   * (up to 1.33) they need not be, and are put into logs and refusals as they are.
   */
  readonly unreadableInfoWording: string;
  readonly checksUtf8: boolean;
  /**
   * What kubelet does with a plugin whose registration failed, or whose registrar did not get the report of its success.
   * `keep`: it stays in the actual state of world, so that kubelet does not try again until its socket changes.
   * `forget` (since 1.36): kubelet removes it, also from the node, and tries again with backoff.
   */
  readonly afterFailure: "keep" | "forget";
  /**
   * Whether a scan of the directory finds a symbolic link to a socket, as inotify does in every kubelet; not yet in 1.24.
   * `traversePluginDir` in `pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go`.
   */
  readonly scanFollowsLinks: boolean;
  /** How kubelet words its refusal of versions: its own check of drivers, or (since 1.29) the one of any plugin. */
  readonly versionsWording: VersionsWording;
  /** Plugin types with a handler: `AddHandler` in `pkg/kubelet/kubelet.go`, with the default feature gates. */
  readonly pluginTypes: readonly PluginType[];
  /** Whether a refusal of a device plugin that does not listen names its socket: `endpoint.go` in `pkg/kubelet/cm/devicemanager`. */
  readonly namesDialledDevicePlugin: boolean;
  /** The API server's limit for a node ID, in bytes: `pkg/apis/storage/validation/validation.go`. */
  readonly maxNodeIdBytes: number;
  /** The API server's words for a driver's name that is too long: `TooLong` in apimachinery's `pkg/util/validation/field/errors.go`. */
  readonly longNameWording: "must have at most" | "may not be more than";
  /** In what it says that a label's length is measured; it always measures bytes. */
  readonly lengthUnit: "characters" | "bytes";
  /** Where it says that an entry of CSINode was changed: `ValidateCSINodeUpdate`. Only with the newer one it prints the entry as JSON. */
  readonly changedDriverWording: "CSINodeDriver" | "spec.drivers";
  /**
   * Whether a volume limit that changed while kubelet was down reaches CSINode when nothing else changed:
   * `keepAllocatableCount` in `pkg/volume/csi/nodeinfomanager/nodeinfomanager.go`.
   */
  readonly comparesVolumeLimit: boolean;
  /**
   * Whether kubelet asks a driver for its volume limit again if the driver's CSIDriver object has a period, and the API server
   * takes another limit for a driver that CSINode lists. Feature gate `MutableCSINodeAllocatableCount`: on since 1.35.
   */
  readonly updatesVolumeLimits: boolean;
}

/** What kubelet registers: `k8s.io/kubelet/pkg/apis/pluginregistration/v1/constants.go`. */
export type PluginType = "CSIPlugin" | "DRAPlugin" | "DevicePlugin";

const KUBELET_1_20: KubeletBehaviour = {
  registrationAuthority: "path",
  driverAuthority: "path",
  dialFailureWording: "Error while dialing",
  handshakeFailureWording: "connection closed",
  closedReadWording: "read",
  lostConnectionWording: "transport is closing",
  unreadableInfoWording: "grpc: failed to unmarshal the received message unexpected EOF",
  checksUtf8: false,
  afterFailure: "keep",
  scanFollowsLinks: false,
  versionsWording: "by-driver",
  pluginTypes: ["CSIPlugin", "DevicePlugin"],
  namesDialledDevicePlugin: true,
  maxNodeIdBytes: 128,
  longNameWording: "must have at most",
  lengthUnit: "characters",
  changedDriverWording: "CSINodeDriver",
  comparesVolumeLimit: false,
  updatesVolumeLimits: false,
};
/** What each does otherwise than the one before it. */
const CHANGES: Readonly<Record<SimulatedVersion, Partial<KubeletBehaviour>>> = {
  "1.20": {},
  "1.24": {
    lostConnectionWording: "error reading from server: EOF",
    unreadableInfoWording: "grpc: failed to unmarshal the received message unexpected EOF",
    maxNodeIdBytes: 256,
  },
  "1.28": {
    driverAuthority: "localhost",
    dialFailureWording: "Error while dialing:",
    handshakeFailureWording: "error reading server preface",
    unreadableInfoWording: "grpc: failed to unmarshal the received message: unexpected EOF",
    namesDialledDevicePlugin: false,
    scanFollowsLinks: true,
    comparesVolumeLimit: true,
  },
  "1.33": {
    registrationAuthority: "encoded-path",
    versionsWording: "by-any",
    longNameWording: "may not be more than",
    changedDriverWording: "spec.drivers",
  },
  "1.34": {
    unreadableInfoWording:
      "grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data",
    checksUtf8: true,
    pluginTypes: ["CSIPlugin", "DevicePlugin", "DRAPlugin"],
  },
  "1.35": { lengthUnit: "bytes", updatesVolumeLimits: true },
  "1.36": { afterFailure: "forget" },
  "1.37": { closedReadWording: "raw-read" },
};

/** The kubelets that the test kit can be, oldest first. */
export const SIMULATED_VERSIONS: readonly SimulatedVersion[] = Object.keys(CHANGES) as SimulatedVersion[];

export function behaviourOf(version: SimulatedVersion): KubeletBehaviour {
  const upTo = SIMULATED_VERSIONS.slice(0, SIMULATED_VERSIONS.indexOf(version) + 1);
  const behaviour = { ...KUBELET_1_20 };
  for (const one of upTo) Object.assign(behaviour, CHANGES[one]);
  return behaviour;
}

/** The `:authority` for a socket. Encoding: `encodeAuthority` in grpc-go's `clientconn.go`. */
export function authorityFor(style: AuthorityStyle, socketPath: string): string {
  if (style === "localhost") return "localhost";
  if (style === "path") return socketPath;
  return encodeURIComponent(socketPath).replace(/%(?:24|26|2B|2C|3A|3B|3D|40|5B|5D)/g, decodeURIComponent);
}
