import { refuse } from "../../base/errors";
import type { CommandFlag } from "../../flags/command-flags";
import type { FlagValues } from "../../flags/grammar";
import { choiceFlag, countFlag, listFlag, switchFlag, textFlag } from "../../flags/kinds";
import { DISTRIBUTIONS } from "../../host-path/kubelet-roots";
import { isSubdomain } from "../../kubelet-rules/api-validation";
import { parseOurImage } from "../recognise/program";

const ofDriver = <Row extends CommandFlag>(row: Row) => ({ ...row, conflicts: "node-wide" }) as const;

/** Nodes by name, in their order, each once, so that two runs write the same. */
export const nodesFlag = (what: string) =>
  textFlag(`${what} on these nodes, with commas, or as kubectl get nodes -o name lists them`, (list) => {
    const nodes = new Set(list.split(/[\s,]+/).map((word) => word.replace(/^node\//, "")));
    nodes.delete("");
    const wrong = nodes.size === 0 ? list : [...nodes].find((node) => !isSubdomain(node));
    return wrong === undefined ? [...nodes].sort() : refuse(`"${wrong}" is not the name of a node`);
  });

export const objectFlags = {
  "driver-name": ofDriver(textFlag("what the driver answers to GetPluginInfo")),
  // The official registrar does not know the flags that are written.
  image: { ...textFlag("image of the registrar", parseOurImage), required: true },
  "driver-image": ofDriver(textFlag("image of the driver")),
  "node-wide": switchFlag("one registrar for every driver of a node, in place of a driver's own"),
  "image-policy": switchFlag("a policy that swaps the registrars of every chart: see --image-policy -h"),
  "allow-drivers": {
    ...textFlag("with --node-wide, the registrar's own: these names only, a,b=/path,..."),
    implies: "node-wide",
  },
  nodes: { ...nodesFlag("with --node-wide, only"), implies: "node-wide" },
  "driver-arg": ofDriver(
    listFlag("argument of the driver, repeatable, in place of its --endpoint and --nodeid"),
  ),
  name: {
    ...textFlag("name of the DaemonSet"),
    defaultDescription: "from the driver's, or csi-registrar",
  },
  namespace: { ...textFlag("where it goes"), defaultDescription: "kube-system" },
  distribution: choiceFlag("sets kubelet's root directory, for openshift the rights, too", DISTRIBUTIONS),
  "kubelet-root": {
    ...textFlag("kubelet's root directory"),
    defaultDescription: "/var/lib/kubelet",
    conflicts: "distribution",
  },
  "http-port": { ...countFlag("port for health and metrics"), defaultDescription: "9809" },
  "startup-taint": listFlag("taint that the registrar removes, repeatable: KEY, KEY:Effect"),
  "node-condition": textFlag("type of a condition of the node that the registrar keeps"),
} as const;

export type ObjectValues = FlagValues<typeof objectFlags>;
