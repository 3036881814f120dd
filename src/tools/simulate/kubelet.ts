import {
  choiceFlag,
  directoryFlag,
  eventOutputFlag,
  optionFlag,
  textFlag,
  timeoutFlag,
  timesFlag,
} from "../../flags/kinds";
import { NEWEST_SIMULATED } from "../../kubelet-rules/versions";
import { printError } from "../../runtime/print";
import { type SimulatedKubelet, startKubelet } from "../../simulator/kubelet/kubelet";
import { kubeletVersion } from "../../simulator/kubelet/options";
import { createCommand } from "../command-line";
import { createObjectPrinter, tellEvents } from "../event-lines";
import { untilAborted, untilStopped } from "../foreground";

/** How long `--until` waits for NotifyRegistrationStatus, which a fault may prevent. */
const NOTICE_WITHIN_MS = 5_000;
const WHAT_IT_IS_NOT = "it mounts nothing and talks to no API server: Node and CSINode are in its memory.";

export const runKubelet = createCommand(
  {
    name: "kubelet",
    describe: `Simulates kubelet's plugin registration; ${WHAT_IT_IS_NOT}`,
    flags: {
      "plugin-registration-path": {
        ...directoryFlag("plugin registration directory to watch, created if missing"),
        required: true,
      },
      "kubelet-version": {
        ...optionFlag(kubeletVersion)("which kubelet to simulate, from 1.13 on"),
        default: NEWEST_SIMULATED,
      },
      refuse: textFlag("refuse every driver with this text"),
      "refuse-times": { ...timesFlag("refuse only this often, then accept"), implies: "refuse" },
      until: textFlag("end with 0 when kubelet has registered a driver: registered=NAME", parseCondition),
      timeout: {
        ...timeoutFlag("end with 1 if --until has not happened after this time"),
        implies: "until",
        default: "5m",
      },
      print: choiceFlag("the object to print as YAML when it changes", ["csinode"]),
      output: eventOutputFlag,
    },
    check: ({ print, output }) => {
      if (print !== undefined && output === "json")
        throw new Error("--print is for text output: in JSON the events contain the objects");
    },
    examples: [
      "kubelet --plugin-registration-path /tmp/registry --print csinode",
      "kubelet --plugin-registration-path /tmp/registry --until registered=disk.csi.example.com --timeout 30s",
      "kubelet --plugin-registration-path /tmp/registry --kubelet-version 1.28 --refuse 'no node' --refuse-times 2",
    ],
    notes: [
      "Exit codes: 0 --until came true, or stopped without it; 1 failed, or stopped with it; 2 bad flag.",
    ],
  },
  async ({ pluginRegistrationPath, kubeletVersion: version, output, until, ...flags }) => {
    const print = flags.print && (await createObjectPrinter());
    const signal = untilStopped();
    const { refuse: reason, refuseTimes: times } = flags;
    const faults = reason === undefined ? [] : [{ kind: "refuse", error: reason, times } as const];
    const kubelet = await startKubelet({ pluginRegistrationPath, version, faults, signal });
    tellEvents(kubelet.events, output, `A simulated kubelet; ${WHAT_IT_IS_NOT}`);
    if (print) kubelet.events.subscribe("csi-node-changed", ({ csiNode }) => print(csiNode));
    if (until === undefined) {
      await untilAborted(signal);
      await kubelet.close();
      return 0;
    }
    const failure = await kubelet.registered(until, { timeoutMs: flags.timeout }).then(
      ({ socketPath }) => untilToldOutcome(kubelet, socketPath),
      (error: Error) => error.message,
    );
    await kubelet.close();
    if (failure === undefined) return 0;
    printError(`registrar kubelet: ${until} is not registered: ${failure}`);
    return 1;
  },
);

/** Kubelet registers first, and tells the registrar then: one that it leaves before would not know. */
async function untilToldOutcome({ events }: SimulatedKubelet, socketPath: string): Promise<undefined> {
  const where = (event: { readonly call: string; readonly socketPath: string }) =>
    event.call === "NotifyRegistrationStatus" && event.socketPath === socketPath;
  await events.when("called", { where, timeoutMs: NOTICE_WITHIN_MS }).catch(() => {});
}

function parseCondition(text: string): string {
  const [, name] = /^registered=(.+)$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`"${text}" must have the form registered=NAME`);
  return name;
}
