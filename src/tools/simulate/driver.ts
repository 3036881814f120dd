import { status } from "@grpc/grpc-js";
import { RegistrarError } from "../../base/errors";
import {
  countFlag,
  durationFlag,
  eventOutputFlag,
  listFlag,
  pairsFlag,
  parseChoice,
  parseDuration,
  parseFault,
  socketFlag,
  textFlag,
  timesOf,
} from "../../flags/kinds";
import { unlessStopped, untilAborted, untilStopped } from "../../runtime/signals";
import { type CsiDriverEvent, startCsiDriver } from "../../simulator/driver/csi-driver";
import { CSI_METHODS, type CsiDriverFault, DEFAULT_ANSWERS } from "../../simulator/driver/options";
import { tryConnect } from "../../unix/unix-socket";
import { createCommand } from "../command-line";
import { durationText, type Narrator, tellEvents, writeLine } from "../event-lines";

const WHAT_IT_IS_NOT = "it provisions, attaches and mounts nothing.";

export const runDriver = createCommand(
  {
    name: "driver",
    describe: `Simulates a CSI driver, as far as registration sees one; ${WHAT_IT_IS_NOT}`,
    flags: {
      "csi-address": { ...socketFlag("path of the unix socket to listen on"), required: true },
      name: { ...textFlag("name for GetPluginInfo; invalid names are allowed"), required: true },
      "node-id": { ...textFlag("node ID for NodeGetInfo; may be empty"), default: DEFAULT_ANSWERS.nodeId },
      topology: pairsFlag("topology segment, KEY=VALUE; repeatable", parseSegment),
      "max-volumes": { ...countFlag("volume limit of the node; 0: no limit"), default: "0" },
      delay: listFlag("answer later, METHOD=DURATION[:TIMES]; repeatable", parseDelay),
      error: listFlag("answer with a gRPC error, METHOD=CODE[:TIMES]; repeatable", parseError),
      hang: listFlag("never answer, METHOD[:TIMES]; repeatable", parseHang),
      "restart-every": durationFlag("stop and start again at this interval"),
      output: eventOutputFlag,
    },
    examples: [
      "driver --csi-address /tmp/csi.sock --name demo.csi --topology zone=a --max-volumes 12",
      "driver --csi-address /tmp/csi.sock --name demo.csi --error GetPluginInfo=UNAVAILABLE:3",
    ],
    notes: [
      `Methods: ${CSI_METHODS.join(", ")}.`,
      "Exit codes: 0 stopped by a signal; 1 it cannot listen; 2 bad flag.",
    ],
  },
  async (flags) => {
    const { csiAddress, name, nodeId, maxVolumes, topology, output, restartEvery } = flags;
    const { delay = [], error = [], hang = [] } = flags;
    const options = { csiAddress, name, nodeId, maxVolumes, topology, faults: [...delay, ...error, ...hang] };
    if ((await tryConnect(csiAddress)) === undefined)
      throw new RegistrarError(
        "SOCKET_UNUSABLE",
        `a process listens on ${csiAddress} already: stop that driver first, or give another --csi-address`,
      );
    const signal = untilStopped();
    for (let starts = 0; !signal.aborted; starts++) {
      const driver = await unlessStopped(startCsiDriver({ ...options, signal }));
      if (driver === undefined) break;
      if (output === "text" && starts === 0) writeLine(`A simulated CSI driver; ${WHAT_IT_IS_NOT}`);
      tellEvents(driver.events, output, createNarrator(name));
      await untilAborted(signal, restartEvery);
      await driver.close();
    }
    return 0;
  },
);

function parseSegment(text: string): readonly [key: string, value: string] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new Error(`"${text}" must have the form KEY=VALUE`);
  return [key, value];
}

type FailureCode = Extract<CsiDriverFault, { readonly kind: "error" }>["code"];
const FAILURE_CODES = Object.keys(status).filter(
  (name): name is FailureCode => /^[A-Z]/.test(name) && name !== "OK",
);

function parseDelay(text: string): CsiDriverFault {
  const { call: method, value, times } = parseFault(text, CSI_METHODS, "NodeGetInfo=500ms");
  return { kind: "slow", method, delayMs: parseDuration(value), ...times };
}

function parseError(text: string): CsiDriverFault {
  const { call: method, value, times } = parseFault(text, CSI_METHODS, "GetPluginInfo=UNAVAILABLE:3");
  return { kind: "error", method, code: parseChoice(value, FAILURE_CODES), ...times };
}

/** `NodeGetInfo`, or `NodeGetInfo:1` for the first call. */
function parseHang(text: string): CsiDriverFault {
  const [method = "", times] = text.split(":");
  return { kind: "hang", method: parseChoice(method, CSI_METHODS), ...timesOf(times) };
}

/** One line for each call when it ends. */
const createNarrator =
  (name: string): Narrator<CsiDriverEvent> =>
  (event) => {
    switch (event.kind) {
      case "listening":
        return `listening on ${event.csiAddress} as ${name}`;
      case "called":
        return isServed(event.method) ? undefined : `${event.method}: not implemented here`;
      case "answered": {
        const outcome = event.result.kind === "ok" ? "answered" : `failed, ${event.result.error},`;
        return `${event.method}: ${outcome} after ${durationText(event.durationMs)}`;
      }
      case "fault-applied":
        return `applies the fault ${JSON.stringify(event.fault)}`;
      default:
        return event.kind;
    }
  };

const isServed = (method: string) => (CSI_METHODS as readonly string[]).includes(method);
