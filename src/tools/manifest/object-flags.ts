import { invalidOption } from "../../base/errors";
import type { CommandFlag } from "../../flags/command-flags";
import { type FlagValues, fieldOf } from "../../flags/grammar";
import { choiceFlag, choicesFlag, countFlag, listFlag, switchFlag, textFlag } from "../../flags/kinds";
import { DISTRIBUTIONS } from "../../host-path/kubelet-roots";
import { OLDEST_SUPPORTED_MINOR } from "../../kubelet-rules/versions";
import { parseOurImage } from "../images/program";

export const LIFECYCLE_MODES = ["Persistent", "Ephemeral"] as const;
const FS_GROUP_POLICIES = ["ReadWriteOnceWithFSType", "File", "None"] as const;

/** The parts to choose from, in the order of the output. */
export const PARTS = ["namespace", "csidriver", "daemonset"] as const;
export type Part = (typeof PARTS)[number];
export const DEFAULT_PARTS: readonly Part[] = ["csidriver", "daemonset"];
export const isNodeWidePart = (part: Part): boolean => part !== "csidriver";

const CSI_DRIVER = { parts: ["csidriver"] } as const;
const DAEMON_SET = { parts: ["daemonset"] } as const;

const forDaemonSet = <Row extends CommandFlag>(row: Row, defaultDescription?: string) => ({
  ...{ ...row, ...DAEMON_SET, defaultDescription },
});
/** The others are for all drivers. */
const NAMED_FOR_DRIVER = {
  neededBy: PARTS.filter((part) => part !== "namespace"),
} as const;
const RUN_BY_DAEMON_SET = { neededBy: DAEMON_SET.parts } as const;

/**
 * `parts`: where a flag's value is written; it is refused without one of them. `neededBy`: the parts that cannot be written
 * without the flag.
 */
export const objectFlags = {
  "driver-name": { ...textFlag("what the driver answers to GetPluginInfo"), ...NAMED_FOR_DRIVER },
  // The official registrar does not know the flags that are written.
  image: { ...textFlag("image of the registrar, for the daemonset", parseOurImage), ...RUN_BY_DAEMON_SET },
  "driver-image": { ...textFlag("image of the driver, for the daemonset"), ...RUN_BY_DAEMON_SET },
  "node-wide": {
    ...switchFlag("one registrar for every driver of a node, in place of a driver's own"),
  },
  "image-policy": switchFlag("a policy that swaps the registrars of every chart: see --image-policy -h"),
  "allow-drivers": forDaemonSet(
    textFlag("with --node-wide, the registrar's own: these names only, a,b=/path,..."),
  ),
  "driver-arg": forDaemonSet(listFlag("argument of the driver, repeatable, written --driver-arg=ARG")),
  include: {
    ...choicesFlag("what to write", PARTS),
    defaultDescription: "csidriver,daemonset",
  },
  name: {
    ...textFlag("name of the DaemonSet"),
    defaultDescription: "from the driver's, or csi-registrar",
    parts: ["daemonset"],
  },
  namespace: {
    ...textFlag("where it goes"),
    defaultDescription: "kube-system",
    parts: ["namespace", "daemonset"],
    neededBy: ["namespace"],
  },
  distribution: forDaemonSet(
    choiceFlag("sets kubelet's root directory, for openshift the rights, too", DISTRIBUTIONS),
  ),
  "kubelet-root": {
    ...forDaemonSet(textFlag("kubelet's root directory"), "/var/lib/kubelet"),
    conflicts: "distribution",
  },
  "plugin-folder": forDaemonSet(textFlag("directory of the driver's socket"), "the driver's name"),
  "http-port": forDaemonSet(countFlag("port for health and metrics"), "9809"),
  "attach-required": { ...switchFlag("volumes are attached before they are mounted"), ...CSI_DRIVER },
  "pod-info-on-mount": {
    ...switchFlag("pass the pod's name to the driver; on with inline volumes"),
    ...CSI_DRIVER,
  },
  "lifecycle-mode": {
    ...choicesFlag("kinds of volumes", LIFECYCLE_MODES),
    defaultDescription: "Persistent",
    ...CSI_DRIVER,
  },
  "fs-group-policy": {
    ...choiceFlag("who owns the files", FS_GROUP_POLICIES),
    ...CSI_DRIVER,
    defaultDescription: FS_GROUP_POLICIES[0],
  },
  "storage-capacity": { ...switchFlag("the provisioner publishes the free capacity"), ...CSI_DRIVER },
  "startup-taint": forDaemonSet(listFlag("taint that the registrar removes, repeatable: KEY, KEY:Effect")),
  "node-condition": forDaemonSet(textFlag("type of a condition of the node that the registrar keeps")),
  "kubernetes-version": textFlag("the cluster's version: refuses what it lacks", parseMinor),
  "node-access": {
    ...forDaemonSet(
      choiceFlag("what confines it to its node", ["policy", "impersonation"] as const),
      "policy",
    ),
    implies: "node-condition",
  },
} as const;

export type ObjectValues = FlagValues<typeof objectFlags>;

interface Written {
  readonly parts?: readonly Part[];
  readonly neededBy?: readonly Part[];
}
const ROWS = Object.entries(objectFlags).map(([flag, row]) => ({ flag, ...(row as Written) }));
/** Flags about one driver, refused with --node-wide. */
const FOR_A_DRIVER = [
  ...["driver-name", "driver-image", "driver-arg", "plugin-folder"],
  ...ROWS.filter(({ parts }) => parts?.some(isNodeWidePart) === false).map(({ flag }) => flag),
];

/** Throws INVALID_OPTION for a flag without effect on these parts or in that cluster, and for one that the parts need. */
export function checkWritten(values: ObjectValues, parts: readonly Part[]): void {
  const rows = ROWS.map((row) => ({ ...row, value: values[fieldOf(row.flag) as keyof ObjectValues] }));
  for (const { flag, parts: places, value } of rows) {
    if (value === undefined) continue;
    if (values.nodeWide && FOR_A_DRIVER.includes(flag))
      throw invalidOption(`--${flag} cannot be given with --node-wide`);
    if (places?.some((part) => parts.includes(part)) === false)
      throw invalidOption(
        `--${flag} is for ${places.join(" or ")}, which is not written: name it in --include`,
      );
  }
  const missing = rows
    .filter(({ value, neededBy }) => value === undefined && neededBy?.some((part) => parts.includes(part)))
    .map(({ flag }) => flag)
    .filter((flag) => !values.nodeWide || !FOR_A_DRIVER.includes(flag));
  if (missing.length === 0) return;
  const isOfDriver = missing.some((flag) => FOR_A_DRIVER.includes(flag));
  const orNodeWide = isOfDriver && parts.some(isNodeWidePart) ? ", or --node-wide" : "";
  throw invalidOption(`it needs --${missing.join(" and --")}${orNodeWide}; see registrar manifest --help`);
}

/** The minor version in `1.36`, `v1.36.4` or `1.36.4+k3s1`. */
function parseMinor(version: string): number {
  const [, digits] = /^v?1\.(\d+)(?:[.+-]|$)/.exec(version) ?? [];
  if (digits === undefined)
    throw new Error(`"${version}" is not a version of Kubernetes: write 1.${OLDEST_SUPPORTED_MINOR}`);
  const minor = Number(digits);
  if (minor >= OLDEST_SUPPORTED_MINOR) return minor;
  throw new Error(`Kubernetes 1.${minor} is not supported: 1.${OLDEST_SUPPORTED_MINOR} is the oldest`);
}
