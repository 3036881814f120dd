import { attempt } from "../../../../base/errors";
import { startProblemOf } from "../../../../flags/node-readiness";
import { askOfficial, correctArgument } from "../../../../flags/official";
import { endpointOf, wantsNodeReadiness } from "../../../../flags/start-options";
import { ACCEPTED_FLAGS, isProbeMode, nearestFlag, parseFlags } from "../../../../flags/table";
import { parseBool } from "../../../../flags/values";
import { parseCsiAddress } from "../../../../unix/socket-path";
import type { Program } from "../../../recognise/program";
import { isTemplate } from "../../findings/words";

export interface RegistrarSettings {
  /** Why the registrar does not start with them, and what to do; undefined: it starts. */
  readonly refusal: { readonly problem: string; readonly advice: string } | undefined;
  /** It has a flag that some releases of the official registrar have, and the image may have one of these. */
  readonly doubtful?: { readonly why: string; readonly advice: string };
  readonly csiAddress: string;
  readonly kubeletRegistrationPath: string;
  readonly pluginRegistrationPath: string;
  /** The HTTP endpoint; without a host it listens on all interfaces. */
  readonly http: { readonly host: string | undefined; readonly port: number } | undefined;
  readonly metricsPath: string;
  /** The registrar requires the node's name from its environment. */
  readonly needsNodeName: boolean;
  /** The words behind the flags, which the registrar ignores. */
  readonly ignored: { readonly words: readonly [string, ...string[]]; readonly advice: string } | undefined;
  /** Undefined: the registrar cannot parse the arguments. */
  readonly task: "register" | "probe" | "print" | undefined;
}

/** What a container's arguments mean, by the registrar's own parser and checks, and by the official one's flags. */
export function settingsOf(args: readonly string[], program: Program): RegistrarSettings {
  const words = args.map(withoutTemplates);
  const settings = ourSettings(words);
  if (program.kind !== "official") return settings;
  const answer = askOfficial(words, program.release);
  if (answer.kind === "unclear") return { ...settings, refusal: undefined, doubtful: answer };
  return answer.kind === "refused" ? { ...settings, refusal: answer, task: undefined } : settings;
}

function ourSettings(words: readonly string[]): RegistrarSettings {
  const line = parseFlags(words);
  const refuse = (problem: string, near?: string) => ({ problem, advice: correctArgument(near) });
  if (line.kind === "help")
    return { ...NOTHING, refusal: refuse("it prints its help and ends"), task: "print" };
  if (line.kind === "error") return { ...NOTHING, refusal: refuse(line.message, nearestFlag(line.unknown)) };
  const { flags } = line;
  const asked = {
    ...flags,
    removeStartupTaint: flags.removeStartupTaint.map(withoutPlaceholders),
    nodeCondition: withoutPlaceholders(flags.nodeCondition),
  };
  const problem = startProblemOf(asked);
  return {
    refusal: problem === undefined ? undefined : refuse(problem),
    csiAddress:
      problem === undefined ? parseCsiAddress(flags.csiAddress).replace(/\/{2,}/g, "/") : flags.csiAddress,
    kubeletRegistrationPath: flags.kubeletRegistrationPath,
    pluginRegistrationPath: flags.pluginRegistrationPath.replace(/(?<=[^/])\/+$/, ""),
    http: problem === undefined ? endpointOf(asked) : undefined,
    metricsPath: flags.metricsPath,
    needsNodeName: wantsNodeReadiness(flags) && flags.nodeName === "",
    ignored: ignoredOf(words, flags.rest),
    task: flags.version ? "print" : isProbeMode(flags.mode) ? "probe" : "register",
  };
}

/** The words that end the flags, such as the next word of a switch. */
function ignoredOf(words: readonly string[], rest: readonly string[]): RegistrarSettings["ignored"] {
  const [first, ...more] = rest;
  if (first === undefined) return undefined;
  const before = words[words.length - rest.length - 1] ?? "";
  const isSwitch = ACCEPTED_FLAGS.get(before.replace(/^--?/, ""))?.bare !== undefined && /^-/.test(before);
  const advice =
    isSwitch && attempt(() => parseBool(first)) !== undefined
      ? `write ${before}=${first}`
      : `take ${first} out`;
  return { words: [first, ...more], advice };
}

/** An installer fills in a log level later: it counts as 2. */
function withoutTemplates(word: string): string {
  return word.replace(/^(--?v=)(?:\$[({].*|\{\{.*)$/, "$12");
}

/** An installer fills in a taint or a condition later: it counts as a valid one. Kubelet fills in $(NAME): it stays. */
function withoutPlaceholders(target: string): string {
  return isTemplate(target) && !target.includes("$(") ? "{driver}/valid" : target;
}

const NOTHING: RegistrarSettings = {
  refusal: undefined,
  csiAddress: "",
  kubeletRegistrationPath: "",
  pluginRegistrationPath: "/registration",
  http: undefined,
  metricsPath: "/metrics",
  needsNodeName: false,
  ignored: undefined,
  task: undefined,
};
