import { RegistrarError, refuse } from "../../base/errors";
import {
  countFlag,
  eventOutputFlag,
  listFlag,
  pairsFlag,
  parseChoice,
  parseDuration,
  socketFlag,
  textFlag,
} from "../../flags/kinds";
import { startCsiDriver } from "../../simulator/driver/csi-driver";
import { CSI_METHODS, DEFAULT_ANSWERS, FAILURE_CODES } from "../../simulator/driver/options";
import { tryConnect } from "../../unix/unix-socket";
import { createCommand } from "../command-line";
import { tellEvents } from "../event-lines";
import { unlessStopped, untilAborted, untilStopped } from "../foreground";

const WHAT_IT_IS_NOT = "it provisions, attaches and mounts nothing.";

/** Takes the form with a method, for its first calls if `:TIMES` follows. */
const faultFlag = <const Fault extends object>(
  describe: string,
  form: string,
  make: (value: string) => Fault,
) => {
  const pattern = form.includes("=")
    ? /^(\w+)=(\w[\w.]*)(?::([1-9]\d{0,14}))?$/
    : /^(\w+)()(?::([1-9]\d{0,14}))?$/;
  return listFlag(`${describe}, ${form}[:TIMES]; repeatable`, (text) => {
    const [, method = "", value = "", times] =
      pattern.exec(text) ?? refuse(`"${text}" must have the form ${form}[:TIMES]`);
    const often = times === undefined ? {} : { times: Number(times) };
    return { ...make(value), method: parseChoice(method, CSI_METHODS), ...often };
  });
};

export const runDriver = createCommand(
  {
    name: "driver",
    describe: `Simulates a CSI driver, as far as registration sees one; ${WHAT_IT_IS_NOT}`,
    flags: {
      "csi-address": { ...socketFlag("path of the unix socket to listen on"), required: true },
      name: { ...textFlag("name for GetPluginInfo; may be invalid"), required: true },
      "node-id": { ...textFlag("node ID for NodeGetInfo; may be empty"), default: DEFAULT_ANSWERS.nodeId },
      topology: pairsFlag("topology segment, KEY=VALUE; repeatable", parseSegment),
      "max-volumes": { ...countFlag("volume limit of the node; 0: no limit"), default: "0" },
      delay: faultFlag("answer later", "METHOD=DURATION", (text) => ({
        kind: "slow",
        delayMs: parseDuration(text),
      })),
      error: faultFlag("answer with a gRPC error", "METHOD=CODE", (text) => ({
        kind: "error",
        code: parseChoice(text, FAILURE_CODES),
      })),
      hang: faultFlag("never answer", "METHOD", () => ({ kind: "hang" })),
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
