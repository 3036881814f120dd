import type { ConnectionTally } from "../../grpc/server";
import { judgeByMounts } from "../../host-path/host-path";
import { otherKubeletRoots } from "../../host-path/kubelet-roots";
import { readMounts } from "../../unix/mounts";
import type { ResolvedOptions } from "../model/options";

/** How the operator runs the driver, which decides what the operator can change. */
export interface HintedUser {
  /** The driver is in this process, which has options instead of flags. */
  readonly isInProcess?: boolean;
  /** The driver's name, if a pattern found its socket: then kubelet gets the right path. */
  readonly foundByPattern?: string | undefined;
}

type Hint = string | ((endpoint: string, user: HintedUser) => string);

/** What kubelet's texts of refusal mean, most telling first. Texts as of kubelet 1.20 to 1.37. */
const REFUSALS: readonly (readonly [RegExp, Hint])[] = [
  [
    /None of the versions specified|empty list for supported versions/,
    "kubelet registers CSI drivers of version 1.x: give supportedVersions such a version, 1.0.0",
  ],
  [
    /none of services supported by the plugin/,
    "give supportedVersions a service that the driver serves: v1.DRAPlugin or v1beta1.DRAPlugin",
  ],
  [
    /already registered for DRA driver plugin|device plugin already connected/,
    (path) => `kubelet has registered ${path} already: does another registration of this driver run?`,
  ],
  [/is not among plugin supported versions/, "give supportedVersions what kubelet names, v1beta1"],
  [/failed to get device plugin options/, "the device plugin failed GetDevicePluginOptions: see its log"],
  [
    /already registered with a higher supported version/,
    "another socket of this node has registered the same driver: two DaemonSets, or a leftover pod?",
  ],
  [
    /topology value collision/,
    "the driver's topology differs from a label of the node: correct one of the two",
  ],
  [/driverNodeID must not be empty/, "NodeGetInfo returns no node ID: does the driver know its node's name?"],
  [
    /must be \d+ (?:characters|bytes) or less|Invalid value/,
    "the API server refuses a value of the driver's NodeGetInfo: correct what kubelet names",
  ],
  [
    /was owned by different node/,
    "CSINode belongs to a deleted Node of the same name: restart kubelet on this node",
  ],
  [
    // client-go's request.go. A controller's `GetNodeName` is "", and its CSI plugin replaces kubelet's (csi_plugin.go, Init).
    /resource name may not be empty/,
    "kubelet has lost its node's name, as where kube-controller-manager runs in the same process: restart that, and update the distribution",
  ],
  [
    /error updating (?:CSINode|Node)/,
    "the API server is away, or does not let kubelet write: see kubelet's log",
  ],
  [
    /dial unix .*permission denied/,
    (path) => `kubelet has no permission to open ${path}: check its owner, mode and SELinux label`,
  ],
  [
    /dial unix |failed to dial device plugin/,
    (path, user) =>
      `kubelet cannot reach the driver at ${path} on the host: check ${pathName(user)} and the hostPath mount`,
  ],
  [
    /code = Unimplemented/,
    (path, user) => {
      const { foundByPattern: name } = user;
      const exclude = `leave it out with --deny-drivers=${name}, or move its socket where no pattern fits it`;
      return `what listens on ${path} does not serve CSI's Node service: ${name ? exclude : `check ${pathName(user)}`}`;
    },
  ],
  [/code = DeadlineExceeded/, "the driver's NodeGetInfo did not answer in time: see the driver's log"],
  [/rpc error: code = /, "this is the error of the driver's NodeGetInfo: see the driver's log"],
];

const pathName = ({ isInProcess }: HintedUser) =>
  isInProcess ? "the option endpoint" : "--kubelet-registration-path";

/** One line on the likely cause of a refusal; undefined for a text that none of the rows knows. */
export function hintForRefusal(text: string, endpoint: string, user: HintedUser = {}): string | undefined {
  const [, hint] = REFUSALS.find(([pattern]) => pattern.test(text)) ?? [];
  return typeof hint === "function" ? hint(endpoint, user) : hint;
}

/** The same, but what this container's mounts show of the driver's socket comes first. */
export async function explainRefusal(
  text: string,
  paths: Pick<ResolvedOptions, "endpoint" | "csiSocketPath" | "pluginRegistrationPath">,
  foundByPattern?: string,
  mounts = readMounts(),
): Promise<string | undefined> {
  const cannotReach = /dial unix |code = Unimplemented/.test(text);
  const verdict = cannotReach
    ? await judgeByMounts({ ...paths, kubeletRegistrationPath: paths.endpoint }, mounts)
    : undefined;
  if (verdict?.kind === "wrong") return `${verdict.problem}: ${verdict.fix}`;
  const isInProcess = paths.csiSocketPath === undefined;
  return hintForRefusal(text, paths.endpoint, { foundByPattern, isInProcess });
}

/** Why kubelet may not call. `directory` is the registration directory, and perhaps where it is on the host. */
export function explainSilence(directory: string, connections: ConnectionTally): string {
  if (connections.rejected > 0)
    return `a client was disconnected before its first call, because it violated HTTP/2: ${connections.lastRejection}`;
  if (connections.cutBeforeCall > 0)
    return "a client connected and disconnected without a call: is it kubelet, and does its log say why?";
  return [
    `${directory} must be the host's <kubelet root>/plugins_registry`,
    `kubelet's root is /var/lib/kubelet unless --root-dir says otherwise: ${otherKubeletRoots().join(", ")}`,
    "SELinux must let kubelet open the socket",
    "and kubelet must be running",
  ].join("; ");
}
