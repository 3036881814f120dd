import { choiceFlag, outputFlag, socketFlag, textFlag } from "../../flags/kinds";
import { unlessStopped, untilStopped } from "../../runtime/signals";
import { createCommand } from "../command-line";
import { createObjectPrinter, writeLine } from "../event-lines";
import { LEGACY_MODES, legacyObject } from "./legacy-registrar";

export const runLegacy = createCommand(
  {
    name: "legacy",
    describe: [
      "Shows what driver-registrar did in 2018, before kubelet registered drivers: it asks the driver the same, and",
      "prints the object that was written to the API server then. It writes nothing itself.",
    ].join(" "),
    flags: {
      "csi-address": { ...socketFlag("the driver's socket"), required: true },
      mode: { ...choiceFlag("what driver-registrar had to do", LEGACY_MODES), default: "node-register" },
      node: { ...textFlag("the node's name"), default: "node-1" },
      output: outputFlag("form of the object", ["yaml", "json"]),
    },
    examples: [
      "legacy --csi-address /tmp/csi.sock",
      "legacy --csi-address /tmp/csi.sock --mode kubernetes-register -o json",
    ],
    notes: [
      "node-register ran on every node, and annotated the Node; kubernetes-register ran once, and created a CSIDriver.",
      "Exit codes: 0 printed, or stopped by a signal; 1 no answer within a minute; 2 bad flag.",
    ],
  },
  async ({ csiAddress, mode, node, output }) => {
    const object = await unlessStopped(legacyObject(mode, csiAddress, node, untilStopped()));
    if (object === undefined) return 0;
    if (output === "json") writeLine(JSON.stringify(object));
    else (await createObjectPrinter())(object);
    return 0;
  },
);
