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

/** What kubelet's texts of refusal mean, most telling first. Texts as of Kubernetes 1.20 to 1.37. */
const REFUSALS: readonly (readonly [RegExp, Hint])[] = [
  [
    // operation_generator.go, and kubelet.go, where the handlers are added.
    /no handler registered for plugin type: DRAPlugin/,
    "this kubelet takes no DRA drivers: it needs Kubernetes 1.34, or the feature gate DynamicResourceAllocation",
  ],
  [
    /no handler registered for plugin type/,
    "this kubelet takes no plugins of this type: see the option type",
  ],
  [
    /None of the versions specified|empty list for supported versions/,
    "kubelet registers CSI drivers of version 1.x only: have their registrar announce 1.0.0 in supportedVersions",
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
    "kubelet has, or is registering, this driver by another socket: two DaemonSets, a leftover pod, or a slow NodeGetInfo since an earlier run?",
  ],
  [/driverNodeID must not be empty/, "NodeGetInfo returns no node ID: does the driver know its node's name?"],
  [
    /dial unix .*permission denied/,
    (path) => `kubelet has no permission to open ${path}: check its owner, mode and SELinux label`,
  ],
  [
    // Kubelet found a socket there, so the path is right.
    /dial unix .*connection refused/,
    (path) =>
      `no process listens on ${path} on the host: the driver does not run, or has just restarted: see the driver's log`,
  ],
  [
    /dial unix |failed to dial device plugin/,
    (path, user) =>
      `kubelet cannot reach the driver at ${path} on the host: check ${pathName(user)} and the hostPath mount`,
  ],
  [
    /code = Unimplemented/,
    (path, user) => {
      const { foundByPattern: name, isInProcess } = user;
      const check = `check ${isInProcess ? "that addServices adds its NodeGetInfo, and " : ""}${pathName(user)}`;
      const exclude = `leave it out with --deny-drivers=${name}, or move its socket where no pattern fits it`;
      return `what listens on ${path} does not serve CSI's Node service: ${name ? exclude : check}`;
    },
  ],
  [/code = DeadlineExceeded/, "the driver's NodeGetInfo did not answer in time: see the driver's log"],
  [/rpc error: code = /, "this is the error of the driver's NodeGetInfo: see the driver's log"],
];

/** How kubelet begins what befell its change of the Node or of CSINode (nodeinfomanager.go). */
const UPDATE = /error updating (?:CSINode|Node)/;

/** The same for these: what the API server answers, and what kubelet says itself. */
const UPDATES: readonly (readonly [RegExp, Hint])[] = [
  [
    /topology value collision/,
    "the driver's topology differs from a label of the node: correct one of the two",
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
  // plugin/pkg/admission/noderestriction, plugin/pkg/auth/authorizer/node
  [
    /is not allowed to modify node|can only access CSINode with the same name/,
    "kubelet's certificate is that of another node, system:node:NAME: check --hostname-override and the certificate",
  ],
  [
    /is not allowed to modify labels/,
    "the driver's topology has a label that NodeRestriction keeps from kubelet: give the driver another topology key",
  ],
  // The API server's admission: plugin/webhook, plugin/policy
  [
    /denied (?:the )?request|failed calling webhook/,
    "an admission webhook or policy stops kubelet's change of the Node or CSINode: correct the one that kubelet names",
  ],
  [
    /x509: |remote error: tls: /,
    "kubelet and the API server do not trust each other's certificate: check when they end, and the CA of both",
  ],
  [
    /: Unauthorized|asked for the client to provide credentials/,
    "the API server does not accept kubelet's credentials: check when its client certificate ends, and kubelet's log",
  ],
  // apimachinery's field/errors.go, pkg/apis/storage/validation
  [
    /field is immutable/,
    "CSINode had another node ID or topology of this driver: kubelet has removed that now, the next registration should pass",
  ],
  [
    /spec\.drivers\[\d+\]\.name: /,
    "the API server refuses the driver's name, which comes from its GetPluginInfo: give the driver another name",
  ],
  [
    /spec\.drivers\[\d+\]|metadata\.labels: /,
    "the API server refuses a value of the driver's NodeGetInfo: correct what kubelet names",
  ],
  [
    /nodes? ".*" not found/,
    "there is no Node of kubelet's name: was it deleted? Kubelet makes it at its start, except with --register-node=false",
  ],
  [/is forbidden: /, "the API server does not let kubelet write: check kubelet's rights, as its text says"],
  [UPDATE, "kubelet cannot reach the API server, or it fails: see kubelet's log"],
];

const pathName = ({ isInProcess }: HintedUser) =>
  isInProcess ? "the option endpoint" : "--kubelet-registration-path";

/** Kubelet's words without those of the driver's error, which may read like kubelet's: a driver dials other sockets, too. */
export const withoutDriversWords = (refusal: string): string =>
  refusal.replace(/(rpc error: code = \w+) desc = (?!connection error: ).*/s, "$1");

/** One line on the likely cause of a refusal; undefined for a text that none of the rows knows. */
export function hintForRefusal(refusal: string, endpoint: string, user: HintedUser = {}): string | undefined {
  const text = withoutDriversWords(refusal);
  const rows = UPDATE.test(text) ? UPDATES : REFUSALS;
  const [, hint] = rows.find(([pattern]) => pattern.test(text)) ?? [];
  return typeof hint === "function" ? hint(endpoint, user) : hint;
}

/** The same, but what this container's mounts show of the driver's socket comes first. */
export async function explainRefusal(
  text: string,
  paths: Pick<ResolvedOptions, "endpoint" | "csiSocketPath" | "pluginRegistrationPath">,
  foundByPattern?: string,
  mounts = readMounts(),
): Promise<string | undefined> {
  const cannotReach = /dial unix |code = Unimplemented/.test(withoutDriversWords(text));
  const verdict = cannotReach ? await judgeByMounts(paths, mounts) : undefined;
  if (verdict?.kind === "wrong") return `${verdict.problem}: ${verdict.fix}`;
  const isInProcess = paths.csiSocketPath === undefined;
  return hintForRefusal(text, paths.endpoint, { foundByPattern, isInProcess });
}

/** The same for a kubelet that has refused another name, because it has the driver. */
export const BUSY_WITH_DRIVER =
  "does the driver's NodeGetInfo answer? Kubelet may still wait for that for an earlier run, 2 minutes at most, and calls then; or does another registrar of the driver run?";

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
