import { basename } from "node:path";
import type { EventOf } from "../../base/event-source";
import { LONGEST_WAIT_MS } from "../../base/pause";
import type { FlagValues } from "../../flags/grammar";
import {
  countFlag,
  directoryFlag,
  durationFlag,
  eventOutputFlag,
  listFlag,
  optionFlag,
  parseChoice,
  parseDuration,
  parseFault,
  switchFlag,
  textFlag,
  timeoutFlag,
} from "../../flags/kinds";
import { NODE_ID_ANNOTATION } from "../../kubelet-rules/api-validation";
import { NEWEST_SIMULATED } from "../../kubelet-rules/versions";
import { plain } from "../../logging/escape";
import { unlessStopped, untilAborted, untilStopped } from "../../runtime/signals";
import { textOfEvent } from "../../simulator/event-stream";
import type { KubeletEvent } from "../../simulator/kubelet/events";
import { type SimulatedKubelet, startKubelet } from "../../simulator/kubelet/kubelet";
import { type KubeletFault, kubeletVersion } from "../../simulator/kubelet/options";
import { createCommand } from "../command-line";
import { createObjectPrinter, durationText, type Narrator, tellEvents, writeLine } from "../event-lines";

const SLOWED_CALLS = ["GetInfo", "NodeGetInfo", "NotifyRegistrationStatus"] as const;
/** How long `--until` waits for NotifyRegistrationStatus, which a fault may prevent. */
const NOTICE_WITHIN_MS = 5_000;
const PRINTABLE = ["node", "csinode"] as const;
const WHAT_IT_IS_NOT = "it mounts nothing and talks to no API server: Node and CSINode are in its memory.";

const flags = {
  "plugin-registration-path": {
    ...directoryFlag("plugin registration directory to watch, created if missing"),
    required: true,
  },
  "kubelet-version": {
    ...optionFlag(kubeletVersion)("which kubelet to simulate, from 1.13 on"),
    default: NEWEST_SIMULATED,
  },
  refuse: textFlag("refuse every driver with this text"),
  "refuse-times": { ...countFlag("refuse only this often, then accept"), implies: "refuse" },
  slow: listFlag("wait before a call, CALL=DURATION[:TIMES]; repeatable", parseSlow),
  "never-call": switchFlag("see sockets, but never call"),
  "restart-every": durationFlag("be killed and start again at this interval"),
  until: textFlag("end with 0 when kubelet has registered a driver: registered=NAME", parseCondition),
  timeout: { ...timeoutFlag("end with 1 if --until has not happened after this time"), implies: "until" },
  print: textFlag(`objects to print as YAML when they change: ${PRINTABLE.join(",")}`, (text) =>
    text.split(",").map((name) => parseChoice(name.trim(), PRINTABLE)),
  ),
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
      "Exit codes: 0 --until came true, or stopped without it; 1 failed, or stopped with it; 2 bad flag.",
    ],
  },
  async (flags) => {
    const { pluginRegistrationPath, kubeletVersion: version, restartEvery } = flags;
    const { output, print: printed = [] } = flags;
    const printer = printed.length > 0 ? await createObjectPrinter() : undefined;
    const print = (name: (typeof PRINTABLE)[number], object: object, comment?: string) => {
      if (printed.includes(name)) printer?.(object, comment);
    };
    const signal = untilStopped();
    const options = { pluginRegistrationPath, version, faults: faultsOf(flags), signal };
    const kubelet = await unlessStopped(startKubelet(options));
    if (kubelet === undefined) return 0;
    if (output === "text") writeLine(`A simulated kubelet; ${WHAT_IT_IS_NOT}`);
    tellEvents(kubelet.events, output, narrateKubelet);
    kubelet.events.subscribe((event) => {
      if (event.kind === "node-changed") print("node", event.node);
      if (event.kind === "csi-node-changed") print("csinode", event.csiNode);
    });
    if (flags.until !== undefined) {
      const failure = await kubelet
        .registered(flags.until, { timeoutMs: flags.timeout ?? LONGEST_WAIT_MS })
        .then(
          ({ socketPath }) => untilToldOutcome(kubelet, socketPath),
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
    print("node", kubelet.node(), "At the end:");
    print("csinode", kubelet.csiNode(), "At the end:");
    return 0;
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

function parseSlow(text: string): KubeletFault {
  const { call, value, times } = parseFault(text, SLOWED_CALLS, "GetInfo=2s:1");
  return { kind: "slow", before: call, delayMs: parseDuration(value), ...times };
}

function faultsOf({ slow = [], refuse: reason, refuseTimes: times, neverCall }: FlagValues<typeof flags>) {
  const faults: KubeletFault[] = [...slow];
  if (reason !== undefined) faults.push({ kind: "refuse", reason, times });
  if (neverCall) faults.push({ kind: "never-call" });
  return faults;
}

const narrateKubelet: Narrator<KubeletEvent> = (event) =>
  event.kind === "calling" ? undefined : (LINES[event.kind]?.(event as never) ?? textOfEvent(event));

/** What reads better as a sentence. */
const LINES: { readonly [Kind in KubeletEvent["kind"]]?: (event: EventOf<KubeletEvent, Kind>) => string } = {
  started: ({ version, simulated, pluginRegistrationPath }) =>
    `kubelet ${version} (as ${simulated}) watches ${pluginRegistrationPath}`,
  stopped: ({ because }) =>
    because === "restart" ? "kubelet is killed and starts again" : "kubelet has stopped",
  "socket-seen": ({ socketPath, replaced }) =>
    `sees ${replaced ? "a new socket in place of " : ""}${basename(socketPath)}`,
  called: ({ call, socketPath, result, durationMs }) => {
    const outcome = result.kind === "error" ? result.error : JSON.stringify(result.answer ?? {});
    return `  ${call} → ${basename(socketPath)}: ${outcome} (${durationText(durationMs)})`;
  },
  registered: ({ driverName, endpoint }) => `${driverName} is registered at ${endpoint}`,
  refused: ({ driverName, reason }) => `${driverName} is refused: ${reason}`,
  deregistered: ({ driverName, because }) => `${driverName} is deregistered: ${because}`,
  failed: ({ retries, backoffMs, error }) =>
    retries
      ? `tries again, after ${durationText(backoffMs)} at the earliest: ${error}`
      : `tries again only when the socket changes: ${error}`,
  "node-changed": ({ node: { metadata } }) =>
    `writes Node ${metadata.name}: node IDs ${metadata.annotations[NODE_ID_ANNOTATION] ?? "{}"}`,
  "csi-node-changed": ({ csiNode: { metadata, spec } }) =>
    `writes CSINode ${metadata.name}: drivers ${spec.drivers.map(({ name }) => name).join(", ") || "none"}`,
  "fault-applied": ({ fault }) => `applies the fault ${JSON.stringify(fault)}`,
};
