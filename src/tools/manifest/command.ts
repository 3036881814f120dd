import { invalidOption } from "../../base/errors";
import { nameListsFrom } from "../../flags/paths";
import { IMPERSONATION_MINOR } from "../../node-readiness/node-api";
import { NO_TAINTS_AS_NODE, parseTargets } from "../../node-readiness/options";
import { allowedNames } from "../../registrar/node-wide/name-lists";
import { print } from "../../runtime/print";
import { createCommand, EXIT_USAGE } from "../command-line";
import { isImagePolicy, policyOnlyFlags, runImagePolicy } from "./image-policy-command";
import type { NodeAccessOptions } from "./node-access";
import { checkWritten, DEFAULT_PARTS, isNodeWidePart, type ObjectValues, objectFlags } from "./object-flags";
import { resolveManifestOptions } from "./options";
import { makeManifests, makeNodeWideManifests } from "./parts";

const runObjects = createCommand(
  {
    name: "manifest",
    describe: "Writes the YAML for a CSI driver's node plugin with this registrar, for kubectl apply -f -",
    flags: { ...policyOnlyFlags, ...objectFlags } as typeof objectFlags,
    failureExitCode: EXIT_USAGE,
    examples: [
      "manifest --driver-name x.csi.example.com --image registrar:v1 --driver-image x:v2",
      "manifest --node-wide --image registrar:v1",
    ],
    notes: [
      "--node-wide takes no flag about a driver, and has the parts namespace and daemonset.",
      "Alerts, a dashboard, a PodMonitor, a StorageClass and a pod with an inline volume are files of examples/.",
      "Exit codes: 0 written; 1 failed; 2 bad flag, or a name that the API server would refuse.",
    ],
  },
  async (values) => print(makeAll(values)),
);

export const runManifest = (argv: readonly string[]) =>
  isImagePolicy(argv) ? runImagePolicy(argv) : runObjects(argv);

function makeAll(values: ObjectValues): string {
  const { include, driverName } = values;
  const parts = include ?? DEFAULT_PARTS.filter((part) => !values.nodeWide || isNodeWidePart(part));
  checkWritten(values, parts);
  // Only parts that are for all drivers need no name.
  if (values.nodeWide || driverName === undefined) {
    const drivers = allowedNames(nameListsFrom(values));
    return makeNodeWideManifests(values, parts, nodeAccessFrom(values, drivers, true));
  }
  if (values.allowDrivers !== undefined) throw invalidOption("--allow-drivers needs --node-wide");
  const access = nodeAccessFrom(values, [driverName], false);
  return makeManifests(resolveManifestOptions({ ...values, driverName, include: parts }), access);
}

function nodeAccessFrom(
  { startupTaint = [], nodeCondition, kubernetesVersion, nodeAccess: confinedBy = "policy" }: ObjectValues,
  drivers: readonly string[] | undefined,
  severalDrivers: boolean,
): NodeAccessOptions | undefined {
  const targets = parseTargets({ startupTaints: startupTaint, condition: nodeCondition, severalDrivers });
  const { startupTaints, condition } = targets;
  if (confinedBy === "impersonation") {
    if ((kubernetesVersion ?? IMPERSONATION_MINOR) < IMPERSONATION_MINOR)
      throw invalidOption(
        `--node-access impersonation needs Kubernetes 1.${IMPERSONATION_MINOR}, not 1.${kubernetesVersion}; ` +
          "without --kubernetes-version it is written all the same",
      );
    if (startupTaints.length > 0)
      throw invalidOption(`--node-access impersonation and --startup-taint: ${NO_TAINTS_AS_NODE}`);
  }
  const isWanted = startupTaints.length > 0 || condition !== undefined;
  return isWanted ? { startupTaints, condition, drivers, confinedBy } : undefined;
}
