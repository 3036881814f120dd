import type { ConnectionTally } from "../../grpc/server";
import { type DriverPaths, judgeByMounts } from "../../host-path/host-path";
import { otherKubeletRoots } from "../../host-path/kubelet-roots";
import { readMounts } from "../../unix/mounts";

/** How the operator runs the driver, which decides what the operator can change. */
export interface HintedUser {
  /** The driver is in this process, which has options instead of flags. */
  readonly isInProcess?: boolean;
  /** The driver's name, if a pattern found its socket: then kubelet gets the right path. */
  readonly foundByPattern?: string | undefined;
}

type HintText = string | ((kubeletRegistrationPath: string, user: HintedUser) => string);

/** What kubelet's texts of refusal mean, most telling first. Texts as of kubelet 1.20 to 1.37. */
const REFUSALS: readonly { readonly text: RegExp; readonly hint: HintText }[] = [
  {
    text: /no handler registered for plugin type/,
    hint: "this kubelet registers no plugins of that type: DRA drivers need Kubernetes 1.34, or before it the feature gate DynamicResourceAllocation",
  },
  {
    text: /None of the versions specified|empty list for supported versions/,
    hint: "kubelet registers CSI drivers of version 1.x: give supportedVersions such a version, 1.0.0",
  },
  {
    text: /none of services supported by the plugin/,
    hint: "give supportedVersions a service that kubelet calls and the driver serves: v1.DRAPlugin or v1beta1.DRAPlugin",
  },
  {
    text: /already registered for DRA driver plugin|device plugin already connected/,
    hint: (path) => `kubelet has registered ${path} already: does another registration of this driver run?`,
  },
  {
    text: /is not among plugin supported versions/,
    hint: "give supportedVersions the version of the device plugin API that kubelet names, v1beta1",
  },
  {
    text: /failed to dial device plugin/,
    hint: (path) =>
      `kubelet cannot reach the device plugin at ${path} on the host: check the option endpoint, and whether the plugin listens`,
  },
  {
    text: /failed to get device plugin options/,
    hint: (path) => `the device plugin at ${path} failed GetDevicePluginOptions: see its log`,
  },
  {
    text: /already registered with a higher supported version/,
    hint: "this node has another socket under which the same driver is registered: two DaemonSets, or a leftover pod?",
  },
  {
    text: /topology value collision/,
    hint: "the driver's topology differs from a label the node has: correct the label or the driver's settings",
  },
  {
    text: /driverNodeID must not be empty/,
    hint: "the driver's NodeGetInfo returns an empty node ID: check how the driver learns its node's name",
  },
  {
    text: /must be \d+ (?:characters|bytes) or less|Invalid value/,
    hint: "the API server refuses a value of the driver's NodeGetInfo: correct what kubelet names",
  },
  {
    text: /error updating (?:CSINode|Node)/,
    hint: "kubelet could not write to the API server: is it reachable, and is kubelet authorized?",
  },
  {
    text: /dial unix .*permission denied/,
    hint: (path) => `kubelet has no permission to open ${path}: check its owner, mode and SELinux label`,
  },
  {
    text: /dial unix /,
    hint: (path, user) =>
      `kubelet cannot reach the driver at ${path} on the host: check ${pathName(user)} and the hostPath mount`,
  },
  {
    text: /code = Unimplemented/,
    hint: (path, user) => {
      const { foundByPattern: name } = user;
      const exclude = `leave it out with --deny-drivers=${name}, or move its socket where no pattern fits it`;
      return `what listens on ${path} does not serve CSI's Node service: ${name ? exclude : `check ${pathName(user)}`}`;
    },
  },
  {
    text: /code = DeadlineExceeded/,
    hint: "the driver's NodeGetInfo did not answer in time: see the driver's log",
  },
  {
    text: /RST_STREAM with error code: PROTOCOL_ERROR/,
    hint: (_path, { isInProcess }) =>
      `the driver's HTTP/2 server rejected kubelet's call: kubelets up to 1.25 send a path as :authority, which servers in Rust, Node and .NET refuse; ${isInProcess ? "serveCsiDriver() takes it" : "csi-grpc-proxy before the driver helps"}, or a later kubelet`,
  },
  {
    text: /rpc error: code = /,
    hint: "this is the error of the driver's NodeGetInfo: see the driver's log",
  },
];

const pathName = ({ isInProcess }: HintedUser) =>
  isInProcess ? "the option endpoint" : "--kubelet-registration-path";

/** One line on the likely cause of a refusal; undefined for a text that none of the rows knows. */
export function hintForRefusal(
  text: string,
  kubeletRegistrationPath: string,
  user: HintedUser = {},
): string | undefined {
  const hint = REFUSALS.find((refusal) => refusal.text.test(text))?.hint;
  return typeof hint === "function" ? hint(kubeletRegistrationPath, user) : hint;
}

/** The same, but what this container's mounts show of the driver's socket comes first. */
export async function explainRefusal(
  text: string,
  paths: DriverPaths,
  user: Pick<HintedUser, "foundByPattern"> = {},
  mounts = readMounts(),
): Promise<string | undefined> {
  const cannotReach = /dial unix |code = Unimplemented/.test(text);
  const verdict = cannotReach ? await judgeByMounts(paths, mounts) : undefined;
  if (verdict?.kind === "wrong") return `${verdict.problem}: ${verdict.fix}`;
  const isInProcess = paths.csiSocketPath === undefined;
  return hintForRefusal(text, paths.kubeletRegistrationPath, { ...user, isInProcess });
}

/**
 * Whether kubelet says that the driver is registered under another path: a peer, not a fault. Kubelet's text says
 * "higher version" for an equal one too (csi_plugin.go, validateVersions).
 */
export function meansPeer(text: string): boolean {
  return /already registered with a higher supported version/.test(text);
}

/** What to check when kubelet does not call. */
export function explainSilence(pluginRegistrationPath: string, connections: ConnectionTally): string {
  if (connections.rejected > 0)
    return `a client was disconnected before its first call, because it violated HTTP/2: ${connections.lastRejection}`;
  if (connections.cutBeforeCall > 0)
    return "a client connected and disconnected without a call: is it kubelet, and does its log say why?";
  return [
    `${pluginRegistrationPath} must be the host's <kubelet root>/plugins_registry`,
    `kubelet's root is /var/lib/kubelet unless --root-dir says otherwise: ${otherKubeletRoots().join(", ")}`,
    "SELinux may keep kubelet from the socket",
    "and kubelet must be running",
  ].join("; ");
}
