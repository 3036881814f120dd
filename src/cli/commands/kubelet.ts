import { LONGEST_WAIT_MS } from "../../base/pause";
import type { FlagValues } from "../../flags/command-flags";
import {
  choiceFlag,
  countFlag,
  durationFlag,
  eventOutputFlag,
  listFlag,
  pairsFlag,
  parseDuration,
  parseFault,
  switchFlag,
  textFlag,
  timeoutFlag,
} from "../../flags/kinds";
import { type KubeletVersion, NEWEST_SIMULATED, simulatedVersion } from "../../kubelet-rules/versions";
import { plain } from "../../logging/escape";
import { startKubelet } from "../../simulator/kubelet/kubelet";
import type { KubeletFault } from "../../simulator/kubelet/options";
import { createCommand } from "../command-line";
import { unlessStopped, untilAborted, untilStopped } from "../process/signals";
import { tellEvents, writeLine } from "./event-lines";
import { narrateKubelet } from "./kubelet/narrator";
import { createObjectPrinter, PRINTABLE, parsePrintable, printChanged, printFinal } from "./kubelet/objects";

const SLOWED_CALLS = ["GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"] as const;
const REFUSING_STEPS = ["registration", "validation"] as const;
const WHAT_IT_IS_NOT = "it mounts nothing and talks to no API server: Node and CSINode are in its memory.";

const flags = {
  "plugin-registration-path": {
    ...textFlag("plugin registration directory to watch, created if missing"),
    required: true,
  },
  "node-name": { ...textFlag("the node's name"), default: "node-1" },
  "kubelet-version": {
    ...textFlag("which kubelet to simulate, from 1.13 on"),
    parse: parseKubeletVersion,
    default: NEWEST_SIMULATED,
  },
  refuse: textFlag("refuse every driver with this text"),
  "refuse-times": { ...countFlag("refuse only this often, then accept"), implies: "refuse" },
  "refuse-at": { ...choiceFlag("step that fails", REFUSING_STEPS), default: "registration" },
  slow: listFlag("wait before a call, CALL=DURATION[:TIMES]; repeatable", parseSlow),
  "drop-before-notice": { ...countFlag("how often to disconnect before reporting the status"), default: "0" },
  "never-call": switchFlag("see sockets, but never call"),
  "volume-limit-period": pairsFlag(
    "ask for a driver's volume limit again (from 1.35), NAME=DURATION; repeatable",
    parsePeriod,
  ),
  "restart-every": durationFlag("be killed and start again at this interval"),
  until: {
    ...textFlag("end with 0 when kubelet has registered a driver: registered=NAME"),
    parse: parseCondition,
  },
  timeout: { ...timeoutFlag("end with 1 if --until has not happened after this time"), implies: "until" },
  print: {
    ...textFlag(`objects to print as YAML when they change: ${PRINTABLE.join(",")}`),
    parse: parsePrintable,
  },
  output: eventOutputFlag,
} as const;

export const runKubelet = createCommand(
  {
    name: "kubelet",
    describe: `Simulates kubelet's plugin registration; ${WHAT_IT_IS_NOT}`,
    flags,
    check: ({ print, output, until, restartEvery }) => {
      if (until !== undefined && restartEvery !== undefined)
        throw new Error("--until does not go with --restart-every: a restart would end it");
      if (print !== undefined && output === "json")
        throw new Error("--print is for text output: in JSON the events contain the objects");
    },
    examples: [
      "kubelet --plugin-registration-path /tmp/registry --print csinode",
      "kubelet --plugin-registration-path /tmp/registry --until registered=disk.csi.example.com --timeout 30s",
      "kubelet --plugin-registration-path /tmp/registry --kubelet-version 1.28 --refuse 'no node' --refuse-times 2",
    ],
    notes: [
      "Calls: GetInfo, NodeGetInfo, NotifyRegistrationStatus.",
      "Exit codes: 0 stopped by a signal, or --until came true; 1 no directory to watch, or --until did not come true; 2 bad flag.",
    ],
  },
  async (flags) => {
    const { pluginRegistrationPath, nodeName, kubeletVersion: version, restartEvery } = flags;
    const { output, print: printed = [], volumeLimitPeriod: volumeLimitPeriodsMs } = flags;
    const print = printed.length > 0 ? await createObjectPrinter() : undefined;
    const signal = untilStopped();
    const options = {
      ...{ pluginRegistrationPath, nodeName, version, volumeLimitPeriodsMs },
      ...{ faults: faultsOf(flags), signal },
    };
    const kubelet = await unlessStopped(startKubelet(options));
    if (kubelet === undefined) return 0;
    if (output === "text") writeLine(`A simulated kubelet; ${WHAT_IT_IS_NOT}`);
    tellEvents(kubelet.events, output, narrateKubelet);
    if (print) kubelet.events.subscribe((event) => printChanged(event, printed, print));
    if (flags.until !== undefined) {
      const failure = await kubelet
        .registered(flags.until, { timeoutMs: flags.timeout ?? LONGEST_WAIT_MS })
        .then(
          () => undefined,
          (error: Error) => error.message,
        );
      await kubelet.close();
      if (failure === undefined) return 0;
      process.stderr.write(`registrar kubelet: ${flags.until} is not registered: ${plain(failure)}\n`);
      return 1;
    }
    while (!signal.aborted) {
      await untilAborted(signal, restartEvery);
      if (!signal.aborted) await unlessStopped(kubelet.restart());
    }
    await kubelet.close();
    if (print) printFinal(kubelet, printed, print);
    return 0;
  },
);

function parseKubeletVersion(text: string): KubeletVersion {
  if (simulatedVersion(text) === undefined)
    throw new Error(`"${text}" is not simulated: it takes a version from 1.13 on, such as 1.30`);
  return text as KubeletVersion;
}

function parseCondition(text: string): string {
  const [, name] = /^registered=(.+)$/.exec(text) ?? [];
  if (name === undefined) throw new Error(`"${text}" must have the form registered=NAME`);
  return name;
}

function parsePeriod(text: string): readonly [driverName: string, periodMs: number] {
  const [, name, duration = ""] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  const periodMs = name === undefined ? 0 : parseDuration(duration);
  if (name === undefined) throw new Error(`"${text}" must have the form x.csi=10s`);
  if (!(periodMs > 0 && periodMs <= LONGEST_WAIT_MS))
    throw new Error(`"${text}" must have a period of more than 0 and at most 24 days`);
  return [name, periodMs];
}

function parseSlow(text: string): KubeletFault {
  const { call, value, times } = parseFault(text, SLOWED_CALLS, "GetInfo=2s:1");
  return { kind: "slow", before: call, delayMs: parseDuration(value), ...times };
}

function faultsOf(given: FlagValues<typeof flags>): readonly KubeletFault[] {
  const faults: KubeletFault[] = [...(given.slow ?? [])];
  const { refuse: reason, refuseTimes: times, refuseAt: stage, dropBeforeNotice } = given;
  if (reason !== undefined)
    faults.push({ kind: "refuse", reason, stage, ...(times !== undefined && { times }) });
  if (dropBeforeNotice > 0) faults.push({ kind: "drop-before-notice", times: dropBeforeNotice });
  if (given.neverCall) faults.push({ kind: "never-call" });
  return faults;
}
