import { invalidOption } from "../../base/errors";
import { DEFAULT_KUBELET_ROOT, KUBELET_ROOTS } from "../../host-path/kubelet-roots";
import { registrationSocketPath } from "../../registrar/model/socket-name";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "../../unix/socket-path";
import { checkDriverName, checkNamed, refuseFlag } from "./names";
import type { ObjectValues } from "./object-flags";

type Values = Partial<ObjectValues>;

export interface ManifestOptions extends Values {
  readonly image: string;
}

export type ResolvedBasics = ReturnType<typeof resolveBasics>;
export type ResolvedManifestOptions = ReturnType<typeof resolveManifestOptions>;

/** Fills defaults and checks everything that the API server or kubelet would refuse; throws INVALID_OPTION. */
export function resolveManifestOptions(options: ManifestOptions) {
  const { driverName, driverImage } = options;
  if (driverName === undefined || driverImage === undefined)
    throw invalidOption(
      "it needs --driver-name and --driver-image, or --node-wide; see registrar manifest --help",
    );
  checkDriverName("driver-name", driverName);
  const basics = resolveBasics(options, nameFrom(driverName));
  const pluginPath = `${basics.kubeletRoot}/plugins/${driverName}`;
  const resolved = {
    ...{ ...basics, driverName, driverImage, pluginPath },
    /** The driver's socket on the host: the path that kubelet dials. */
    kubeletRegistrationPath: `${pluginPath}/csi.sock`,
    driverArgs: options.driverArg ?? ["--endpoint=unix:///csi/csi.sock", "--nodeid=$(NODE_NAME)"],
  };
  checkNamed("image", "driver-image", driverImage);
  // Kubelet connects to the registration socket by its path on the host, which is longer than that of the driver's socket.
  const socket = registrationSocketPath(`${basics.kubeletRoot}/plugins_registry`, driverName);
  const bytes = `${Buffer.byteLength(socket)} bytes of ${MAX_SOCKET_PATH_BYTES}`;
  if (!fitsSocketPath(socket))
    throw invalidOption(`a socket on the host would be ${socket}, ${bytes}: shorten --driver-name`);
  return resolved;
}

/** Fills the defaults of every DaemonSet's options and checks them; throws INVALID_OPTION. */
export function resolveBasics(options: ManifestOptions, defaultName: string) {
  const { image, name = defaultName, namespace = "kube-system", httpPort = 9809, distribution } = options;
  const kubeletRoot = kubeletRootOf(options);
  checkNamed("image", "image", image);
  checkNamed("label", "name", name);
  checkNamed("label", "namespace", namespace);
  if (!(Number.isInteger(httpPort) && httpPort >= 1 && httpPort <= 65_535))
    refuseFlag("http-port", String(httpPort), "must be from 1 to 65535");
  return { image, name, namespace, distribution, kubeletRoot, httpPort };
}

/** Throws INVALID_OPTION for a directory that no container can mount. */
export function kubeletRootOf({
  distribution,
  kubeletRoot,
}: Pick<Values, "distribution" | "kubeletRoot">): string {
  const usual = distribution === undefined ? DEFAULT_KUBELET_ROOT : KUBELET_ROOTS[distribution];
  // A shell's completion ends a directory with "/".
  const root = (kubeletRoot ?? usual).replace(/(?<=[^/])\/$/, "");
  checkNamed("host path", "kubelet-root", root);
  return root;
}

/** Begins with `csi-` unless the driver's name contains that. At most 63 characters, because it becomes a label. */
function nameFrom(driverName: string): string {
  const words = driverName.replaceAll(".", "-").slice(0, 63 - "csi--node".length);
  return `${/\bcsi\b/.test(words) ? "" : "csi-"}${words.replace(/-+$/, "")}-node`;
}
