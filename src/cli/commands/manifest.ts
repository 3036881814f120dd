import { messageOf } from "../../errors";
import { DISTRIBUTIONS } from "../../manifest/distributions";
import {
  FS_GROUP_POLICIES,
  LIFECYCLE_MODES,
  type ManifestOptions,
  PARTS,
  type Part,
  resolveManifestOptions,
} from "../../manifest/options";
import { makeManifests } from "../../manifest/parts";
import { choiceFlag, countFlag, listFlag, parseChoice, switchFlag, textFlag } from "../command-flags";
import { createCommand, type FlagValues } from "../command-line";
import { addNodeReadiness, readinessFlags, readinessRuleFlag } from "./manifest-node-readiness";
import { runNodeWideManifest } from "./manifest-node-wide";

const flags = {
  "driver-name": { ...textFlag("the driver's name in GetPluginInfo"), demandOption: true },
  image: { ...textFlag("image of the registrar"), demandOption: true },
  "driver-image": { ...textFlag("image of the driver"), demandOption: true },
  "driver-arg": listFlag(
    "argument of the driver, instead of the usual two; repeatable, written --driver-arg=ARG",
    String,
  ),
  include: {
    ...listFlag(`what to write, separated by commas: ${PARTS.join(", ")}, all`, parseParts),
    defaultDescription: "csidriver,daemonset",
  },
  name: { ...textFlag("name of the DaemonSet"), defaultDescription: "from the driver's" },
  namespace: { ...textFlag("its namespace"), default: "kube-system" },
  distribution: choiceFlag("sets kubelet's root directory", Object.keys(DISTRIBUTIONS)),
  "kubelet-root": {
    ...textFlag("kubelet's root directory"),
    defaultDescription: "/var/lib/kubelet",
    conflicts: "distribution",
  },
  "plugin-folder": {
    ...textFlag("folder of the driver's socket"),
    defaultDescription: "the driver's name",
  },
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
    default: FS_GROUP_POLICIES[0],
  },
  "storage-capacity": switchFlag("the provisioner publishes the free capacity"),
  "storage-class": { ...textFlag("name of the StorageClass"), defaultDescription: "the driver's name" },
  ...readinessFlags,
  ...readinessRuleFlag,
} as const;

/** Writes Kubernetes objects as YAML: a driver's, or with `--node-wide` one registrar for all; resolves with the exit code. */
export async function runManifest(argv: readonly string[]): Promise<number> {
  const others = argv.filter((word) => !/^--?node-wide$/.test(word));
  return others.length < argv.length ? runNodeWideManifest(others) : runDriverManifest(argv);
}

const runDriverManifest = createCommand(
  {
    name: "manifest",
    describe: "Writes the YAML for a CSI driver's node plugin with this registrar, for kubectl apply -f -",
    flags,
    check: (values) => {
      try {
        addNodeReadiness(makeManifests(resolveManifestOptions(optionsOf(values))), values, values.driverName);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    examples: [
      "manifest --driver-name x.csi.example.com --image registrar:v1 --driver-image x:v2",
      "manifest --driver-name x.csi.example.com --image registrar:v1 --driver-image x:v2 --include all",
      "manifest --node-wide --image registrar:v1",
    ],
    notes: [
      "--node-wide writes one registrar for every driver of a node instead, and has flags of its own: see its --help.",
      "Exit codes: 0 written; 1 failed; 2 bad flag, or a name that the API server would refuse.",
    ],
  },
  async (values) => {
    const { renderManifests } = await import("../../manifest/yaml");
    const manifests = makeManifests(resolveManifestOptions(optionsOf(values)));
    process.stdout.write(renderManifests(addNodeReadiness(manifests, values, values.driverName)));
    return 0;
  },
);

function optionsOf(values: FlagValues<typeof flags>): ManifestOptions {
  const { distribution, kubeletRoot, include, driverArg, storageClass } = values;
  return {
    ...values,
    driverArgs: driverArg,
    parts: include?.flat(),
    kubeletRoot: distribution === undefined ? kubeletRoot : DISTRIBUTIONS[distribution],
    lifecycleModes: values.lifecycleMode,
    storageClassName: storageClass,
  };
}

function parseParts(text: string): readonly Part[] {
  return text.split(",").flatMap((word) => {
    const choice = parseChoice(word, [...PARTS, "all"] as const);
    return choice === "all" ? PARTS : [choice];
  });
}
