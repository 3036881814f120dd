import { print } from "../../runtime/print";
import { createCommand, EXIT_USAGE } from "../command-line";
import { isImagePolicy, runImagePolicy } from "./image-policy-command";
import { objectFlags } from "./object-flags";
import { makeManifests } from "./objects";

const runObjects = createCommand(
  {
    name: "manifest",
    describe:
      "Writes the DaemonSet of a CSI driver with this registrar, and its rights, for kubectl apply -f -",
    flags: objectFlags,
    failureExitCode: EXIT_USAGE,
    examples: [
      "manifest --driver-name x.csi.example.com --image registrar:v1 --driver-image x:v2",
      "manifest --node-wide --image registrar:v1",
    ],
    notes: [
      "Without --node-wide it needs --driver-name and --driver-image.",
      "Files of examples/: CSIDriver, alerts, dashboard, PodMonitor, StorageClass, a pod with an inline volume.",
      "Exit codes: 0 written; 1 failed; 2 bad flag, or a name that the API server would refuse.",
    ],
  },
  async (values) => print(makeManifests(values)),
);

export const runManifest = (argv: readonly string[]) =>
  isImagePolicy(argv) ? runImagePolicy(argv) : runObjects(argv);
