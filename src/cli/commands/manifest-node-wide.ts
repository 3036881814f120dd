import { messageOf } from "../../errors";
import { DISTRIBUTIONS } from "../../manifest/distributions";
import { type NodeWideOptions, nodeWideDaemonSet } from "../../manifest/node-wide";
import { choiceFlag, countFlag, textFlag } from "../command-flags";
import { createCommand, type FlagValues } from "../command-line";
import { addNodeReadiness, readinessFlags } from "./manifest-node-readiness";

const flags = {
  image: { ...textFlag("image of the registrar"), demandOption: true },
  name: { ...textFlag("name of the DaemonSet"), default: "csi-registrar" },
  namespace: { ...textFlag("its namespace"), default: "kube-system" },
  distribution: choiceFlag("sets kubelet's root directory", Object.keys(DISTRIBUTIONS)),
  "kubelet-root": {
    ...textFlag("kubelet's root directory"),
    defaultDescription: "/var/lib/kubelet",
    conflicts: "distribution",
  },
  "http-port": { ...countFlag("port for health and metrics"), default: "9809" },
  ...readinessFlags,
} as const;

/** Writes the DaemonSet of one registrar for all drivers of a node; resolves with the exit code. */
export const runNodeWideManifest = createCommand(
  {
    name: "manifest --node-wide",
    describe: "Writes the YAML for one registrar for every CSI driver of a node, for kubectl apply -f -",
    flags,
    check: (values) => {
      try {
        addNodeReadiness([nodeWideDaemonSet(optionsOf(values))], values);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    examples: ["manifest --node-wide --image registrar:v1"],
    notes: ["Exit codes: 0 written; 1 failed; 2 bad flag, or a name that the API server would refuse."],
  },
  async (values) => {
    const { renderManifests } = await import("../../manifest/yaml");
    process.stdout.write(renderManifests(addNodeReadiness([nodeWideDaemonSet(optionsOf(values))], values)));
    return 0;
  },
);

function optionsOf(values: FlagValues<typeof flags>): NodeWideOptions {
  const { distribution, kubeletRoot } = values;
  return { ...values, kubeletRoot: distribution === undefined ? kubeletRoot : DISTRIBUTIONS[distribution] };
}
