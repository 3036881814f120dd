import { invalidOption } from "../../base/errors";
import { DISTRIBUTIONS, KUBELET_ROOTS } from "../../host-path/kubelet-roots";
import type { NodeAccessOptions } from "../../manifest/node-access";
import { POLICY_MINOR } from "../../manifest/node-policy";
import {
  FS_GROUP_POLICIES,
  LIFECYCLE_MODES,
  type ManifestOptions,
  PARTS,
  type Part,
  resolveManifestOptions,
} from "../../manifest/options";
import { makeManifests, makeNodeWideManifests } from "../../manifest/parts";
import { parseConditionType } from "../../node-readiness/condition";
import { NO_TAINTS_AS_NODE, requireDriverPlaceholder } from "../../node-readiness/options";
import { IMPERSONATION_MINOR } from "../../node-readiness/rbac";
import { parseStartupTaint } from "../../node-readiness/startup-taint";
import { allowedNames } from "../../registrar/node-wide/name-lists";
import { choiceFlag, countFlag, listFlag, parseChoice, switchFlag, textFlag } from "../command-flags";
import { camelCase, createCommand, type FlagValues } from "../command-line";
import { nameListsFrom } from "../name-lists";
import { parseOurImage } from "../our-image";
import { print } from "../print";
import { isImagePolicy, runImagePolicy } from "./manifest/image-policy";
import { refuseSplitArgument } from "./manifest/split-argument";

const flags = {
  "driver-name": textFlag("what the driver answers to GetPluginInfo"),
  // The official one does not know the flags that are written.
  image: { ...textFlag("image of the registrar"), demandOption: true, coerce: parseOurImage },
  "driver-image": textFlag("image of the driver"),
  "node-wide": switchFlag("one registrar for every driver of a node, in place of a driver's own"),
  "image-policy": switchFlag("a policy that swaps the registrars of every chart: see --image-policy -h"),
  "allow-drivers": textFlag("with --node-wide, the registrar's own: these names only, a,b=/path,..."),
  "driver-arg": listFlag("argument of the driver, repeatable, written --driver-arg=ARG", String),
  include: {
    ...listFlag(`what to write, separated by commas: ${PARTS.join(", ")}, all`, parseParts),
    defaultDescription: "csidriver,daemonset",
  },
  name: { ...textFlag("name of the DaemonSet"), defaultDescription: "from the driver's, or csi-registrar" },
  namespace: { ...textFlag("where it goes"), default: "kube-system" },
  distribution: choiceFlag("sets kubelet's root directory", DISTRIBUTIONS),
  "kubelet-root": {
    ...textFlag("kubelet's root directory"),
    defaultDescription: "/var/lib/kubelet",
    conflicts: "distribution",
  },
  "plugin-folder": { ...textFlag("folder of the driver's socket"), defaultDescription: "the driver's name" },
  "http-port": { ...countFlag("port for health and metrics"), default: "9809" },
  "attach-required": switchFlag("volumes are attached before they are mounted"),
  "pod-info-on-mount": switchFlag("pass the pod's name to the driver; on with inline volumes"),
  "lifecycle-mode": {
    ...listFlag(`kinds of volumes: ${LIFECYCLE_MODES.join(", ")}`, (text) =>
      parseChoice(text, LIFECYCLE_MODES),
    ),
    defaultDescription: "Persistent",
  },
  "fs-group-policy": {
    ...choiceFlag("who owns the files", FS_GROUP_POLICIES),
    defaultDescription: FS_GROUP_POLICIES[0],
  },
  "storage-capacity": switchFlag("the provisioner publishes the free capacity"),
  // Named below the others: with their names in the first column the help is longer than a screen.
  "node-allocatable-update-period": { ...countFlag("seconds"), hidden: true },
  "prevent-pod-scheduling-if-missing": { ...switchFlag(""), hidden: true },
  "token-audience": { ...listFlag("", String), hidden: true },
  "service-account-token-in-secrets": { ...switchFlag(""), hidden: true },
  "storage-class": { ...textFlag("name of the StorageClass"), defaultDescription: "the driver's name" },
  "startup-taint": listFlag("taint that the registrar removes, repeatable: KEY, KEY:Effect", String),
  "node-condition": textFlag("type of a condition of the node that the registrar keeps"),
  "kubernetes-version": textFlag(`the cluster's version, if it is before 1.${POLICY_MINOR}`),
  "node-access": {
    ...choiceFlag("what confines it to its node", ["policy", "impersonation"]),
    defaultDescription: "policy",
    implies: "node-condition",
  },
  unconfined: {
    ...switchFlag(`before 1.${POLICY_MINOR}: rights for every node, as no policy confines them`),
    implies: "kubernetes-version",
  },
  "node-readiness-rule": {
    ...switchFlag("with --node-condition: a NodeReadinessRule"),
    implies: "node-condition",
  },
} as const;

/** A node-wide registrar's manifest refuses them. */
const FOR_A_DRIVER = [
  ...["driver-name", "driver-image", "driver-arg", "plugin-folder", "attach-required", "pod-info-on-mount"],
  ...["lifecycle-mode", "fs-group-policy", "storage-capacity", "storage-class", "node-readiness-rule"],
  ...["node-allocatable-update-period", "prevent-pod-scheduling-if-missing", "token-audience"],
  "service-account-token-in-secrets",
] as const;

const runObjects = createCommand(
  {
    name: "manifest",
    describe: "Writes the YAML for a CSI driver's node plugin with this registrar, for kubectl apply -f -",
    flags,
    translate: (argv) => refuseSplitArgument(argv, "driver-arg", flags),
    check: (values) => void makeAll(values),
    examples: [
      "manifest --driver-name x.csi.example.com --image registrar:v1 --driver-image x:v2",
      "manifest --node-wide --image registrar:v1",
    ],
    notes: [
      [
        "Newer fields of the CSIDriver: --node-allocatable-update-period=SECONDS (Kubernetes 1.35),",
        "--prevent-pod-scheduling-if-missing (1.37), --token-audience=AUDIENCE (repeatable) and with it",
        "--service-account-token-in-secrets (1.35).",
      ].join(" "),
      "--node-wide takes no flag about a driver, and has the parts daemonset, podmonitor, alerts.",
      "Exit codes: 0 written; 1 failed; 2 bad flag, or a name that the API server would refuse.",
    ],
  },
  async (values) => print(makeAll(values)),
);

/** Writes Kubernetes objects as YAML, or a policy; resolves with the exit code. */
export const runManifest = (argv: readonly string[]) =>
  isImagePolicy(argv) ? runImagePolicy(argv) : runObjects(argv);

type Values = FlagValues<typeof flags>;

function makeAll(values: Values): string {
  const { distribution, include, driverName, driverImage } = values;
  const kubeletRoot = distribution === undefined ? values.kubeletRoot : KUBELET_ROOTS[distribution];
  const parts = include?.flat();
  if (values.nodeWide) {
    const given = FOR_A_DRIVER.find((flag) => values[camelCase(flag) as keyof Values] !== undefined);
    if (given !== undefined) throw invalidOption(`--${given} means nothing with --node-wide`);
    const drivers = allowedNames(nameListsFrom(values));
    const access = nodeAccessFrom(values, { drivers, isNodeWide: true });
    return makeNodeWideManifests({ ...values, kubeletRoot }, parts, access);
  }
  if (driverName === undefined || driverImage === undefined) {
    const required = Object.entries({ "--driver-name": driverName, "--driver-image": driverImage });
    const missing = required.flatMap(([flag, value]) => (value === undefined ? [flag] : [])).join(" and ");
    throw invalidOption(`it needs ${missing}, or --node-wide; see registrar manifest --help`);
  }
  if (values.allowDrivers !== undefined) throw invalidOption("--allow-drivers needs --node-wide");
  const options: ManifestOptions = {
    ...values,
    driverName,
    driverImage,
    kubeletRoot,
    parts,
    driverArgs: values.driverArg,
    lifecycleModes: values.lifecycleMode,
    tokenAudiences: values.tokenAudience,
    storageClassName: values.storageClass,
  };
  const access = nodeAccessFrom(values, { drivers: [driverName], isNodeWide: false });
  return makeManifests(resolveManifestOptions(options), access);
}

function parseParts(text: string): readonly Part[] {
  return text.split(",").flatMap((word) => {
    const choice = parseChoice(word, [...PARTS, "all"] as const);
    return choice === "all" ? PARTS : [choice];
  });
}

function nodeAccessFrom(
  values: Values,
  { drivers, isNodeWide }: { readonly drivers: readonly string[] | undefined; readonly isNodeWide: boolean },
): NodeAccessOptions | undefined {
  const { startupTaint = [], nodeCondition, nodeReadinessRule: readinessRule = false } = values;
  const startupTaints = startupTaint.map(parseStartupTaint);
  const condition = nodeCondition === undefined ? undefined : parseConditionType(nodeCondition);
  const confinedBy = confinementOf(values);
  if (confinedBy === "impersonation" && startupTaints.length > 0)
    throw invalidOption(`--node-access impersonation and --startup-taint: ${NO_TAINTS_AS_NODE}`);
  if (startupTaints.length === 0 && condition === undefined) return undefined;
  if (isNodeWide) requireDriverPlaceholder(startupTaint, nodeCondition);
  return { startupTaints, condition, drivers, readinessRule, confinedBy };
}

function confinementOf(values: Values): NodeAccessOptions["confinedBy"] {
  const { kubernetesVersion, unconfined = false, nodeAccess = "policy" } = values;
  if (kubernetesVersion === undefined) return nodeAccess;
  const [, minor] = /^v?1\.(\d+)(?:\.|$)/.exec(kubernetesVersion) ?? [];
  if (minor === undefined)
    throw invalidOption(
      `--kubernetes-version "${kubernetesVersion}" is no version of Kubernetes: write 1.${POLICY_MINOR}`,
    );
  if (nodeAccess === "impersonation" && Number(minor) < IMPERSONATION_MINOR)
    throw invalidOption(
      `--node-access impersonation needs Kubernetes 1.${IMPERSONATION_MINOR}, not 1.${minor}`,
    );
  const isOld = Number(minor) < POLICY_MINOR;
  if (isOld && !unconfined)
    throw invalidOption(
      `Kubernetes 1.${minor} has no ValidatingAdmissionPolicy v1, which confines a registrar to its own node from ` +
        `1.${POLICY_MINOR} on; --unconfined writes rights for every node`,
    );
  if (!isOld && unconfined)
    throw invalidOption(
      `--unconfined is for clusters before 1.${POLICY_MINOR}: a policy confines the registrar here`,
    );
  return isOld ? "nothing" : nodeAccess;
}
