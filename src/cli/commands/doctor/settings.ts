import { parseListenAddress } from "../../../diagnostics/listen-address";
import type { RegistrarSettings } from "../../../doctor/deployment";
import { parseCsiAddress } from "../../../registrar/driver/csi-address";
import { httpEndpointOf, startProblemOf } from "../../flag-checks";
import { meantFlag, parseFlags } from "../../flags";

/** What a container's arguments come to, by the registrar's own parser and checks. */
export function settingsOf(args: readonly string[]): RegistrarSettings {
  const line = parseFlags(args.map(withoutTemplates));
  if (line.kind !== "flags") {
    const problem = line.kind === "help" ? "it prints its help and ends" : line.message;
    return {
      ...NOTHING,
      problem,
      meantFlag: line.kind === "error" ? meantFlag(line.message) : undefined,
    };
  }
  const { flags } = line;
  const problem = startProblemOf(flags);
  const endpoint = httpEndpointOf(flags);
  const isListening = problem === undefined && endpoint !== undefined;
  return {
    problem,
    meantFlag: undefined,
    csiAddress:
      problem === undefined ? parseCsiAddress(flags.csiAddress).replace(/\/{2,}/g, "/") : flags.csiAddress,
    kubeletRegistrationPath: flags.kubeletRegistrationPath,
    pluginRegistrationPath: flags.pluginRegistrationPath.replace(/(?<=[^/])\/+$/, ""),
    httpPort: isListening ? parseListenAddress(endpoint).port : undefined,
    metricsPath: flags.metricsPath,
    needsNodeName:
      (flags.removeStartupTaint.length > 0 || flags.nodeCondition !== "") && flags.nodeName === "",
  };
}

/** A log level that an installer fills in is no reason to take the arguments for wrong. */
function withoutTemplates(word: string): string {
  return word.replace(/^(--?v=)(?:\$[({].*|\{\{.*)$/, "$12");
}

const NOTHING: RegistrarSettings = {
  problem: undefined,
  meantFlag: undefined,
  csiAddress: "",
  kubeletRegistrationPath: "",
  pluginRegistrationPath: "/registration",
  httpPort: undefined,
  metricsPath: "/metrics",
  needsNodeName: false,
};
