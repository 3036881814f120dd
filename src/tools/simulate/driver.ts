import { status } from "@grpc/grpc-js";
import { RegistrarError } from "../../base/errors";
import {
  countFlag,
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
import { startCsiDriver } from "../../simulator/driver/csi-driver";
import { CSI_METHODS, type CsiDriverFault, DEFAULT_ANSWERS } from "../../simulator/driver/options";
import { tryConnect } from "../../unix/unix-socket";
import { createCommand } from "../command-line";
import { tellEvents } from "../event-lines";

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
    const { delay = [], error = [], hang = [], output, ...options } = flags;
    const { csiAddress } = options;
    if ((await tryConnect(csiAddress)) === undefined)
      throw new RegistrarError(
        "SOCKET_UNUSABLE",
        `a process listens on ${csiAddress} already: stop that driver first, or give another --csi-address`,
      );
    const signal = untilStopped();
    const faults = [...delay, ...error, ...hang];
    const driver = await unlessStopped(startCsiDriver({ ...options, faults, signal }));
    if (driver === undefined) return 0;
    tellEvents(driver.events, output, `A simulated CSI driver; ${WHAT_IT_IS_NOT}`);
    await untilAborted(signal);
    await driver.close();
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
