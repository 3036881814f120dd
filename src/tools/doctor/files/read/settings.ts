import type { Program } from "../../../recognise/program";
import { isTemplate } from "../../../recognise/rule";
import { listFrom, looked, type SeenList, truth } from "../../findings/seen";
import { messageIn, UNKNOWN, type WrittenSettings } from "./arguments";
import { isIn, type OpenVariable, withoutVariables } from "./environment";
import { filled, unread } from "./filled";

// What a registrar's arguments mean, for judges.

/** The variables in these words that have no value, so that kubelet leaves them as they are: no author writes more of them by mistake. */
function literalsIn(words: readonly string[], open: readonly OpenVariable[]): SeenList<string> {
  const found = open.filter((one) => words.some((word) => isIn(word, one)));
  const names = (isElsewhere: boolean) =>
    new Set(found.filter((one) => one.isElsewhere === isElsewhere && !one.isField).map(({ name }) => name));
  const [elsewhere] = names(true);
  const unfilled = words.map(withoutVariables).find(isTemplate);
  const lacking =
    elsewhere === undefined
      ? unfilled === undefined
        ? []
        : unread("placeholder", unfilled)
      : unread("elsewhere", elsewhere);
  return listFrom([...names(false)].slice(0, MAX_LITERALS)).with(listFrom<string>(lacking));
}
const MAX_LITERALS = 10;
/** The same for judges. What an unknown program does with its arguments, and whether it starts, is not known. */
export type RegistrarSettings = ReturnType<typeof lookOfSettings>;
export function lookOfSettings(
  written: WrittenSettings,
  variables: readonly OpenVariable[],
  { kind }: Pick<Program, "kind">,
) {
  const { start } = written;
  const isUnclear = start.kind === "unclear";
  const [unknown] = kind === "unknown" ? [UNKNOWN] : [];
  return {
    start: looked(unknown, isUnclear ? UNKNOWN : start),
    /** What decides whether it starts, if that depends on the release. */
    unclear: looked(unknown).items(() => (isUnclear ? start : undefined)),
    /** The variables without a value that a refusal names. */
    ofRefusal: literalsIn([messageIn(start)], variables),
    isParsed: truth(unknown?.gap ?? written.isParsed),
    /** What they tell, if it can parse them all: else it reads none. */
    parsed: looked(written.isParsed ? undefined : UNKNOWN, lookOfParsed(written, variables, kind)),
  };
}

export type ParsedSettings = ReturnType<typeof lookOfParsed>;
export function lookOfParsed(
  written: WrittenSettings,
  variables: readonly OpenVariable[],
  program: Program["kind"],
) {
  const { csiAddress, dialed, kubeletRegistrationPath: told, pluginRegistrationPath = "" } = written;
  const { nodeName = "", ignored, mode, http } = written;
  const open = [told, csiAddress].find(isTemplate) ?? "";
  const mayBeEmpty = variables.find((one) => one.isElsewhere && !one.isField && isIn(nodeName, one));
  const mayNotAsk = written.nodeName !== undefined && program === "unknown" ? UNKNOWN : undefined;
  return {
    ignored,
    /** With what is filled in later it may not start. */
    isFilled: truth(written.open === undefined || written.open.gap),
    /** What it does, if it starts: registers one driver or all of a node, or probes, or prints. */
    mode: looked(mode ?? UNKNOWN),
    /** Whether the environment must have the node's name. */
    needsNodeName: looked(
      mayNotAsk,
      mayBeEmpty && unread("elsewhere", mayBeEmpty.name),
      isTemplate(withoutVariables(nodeName)) ? unread("placeholder", nodeName) : written.nodeName,
    ).is((name) => name === ""),
    /** Variables without a value, in its paths and in the host of its endpoint. */
    literals: {
      ofPaths: literalsIn([csiAddress, told, pluginRegistrationPath], variables),
      ofHost: literalsIn([http?.host ?? ""], variables),
    },
    paths: filled(open, "", { csiAddress, dialed, told }),
    hasKubeletPath: filled(withoutVariables(told), "", told).is((path) => path !== ""),
    pluginRegistrationPath: looked(
      program === "unknown" && pluginRegistrationPath === "" ? UNKNOWN : undefined,
      isTemplate(pluginRegistrationPath)
        ? unread("placeholder", pluginRegistrationPath)
        : pluginRegistrationPath,
    ),
  };
}
export const isRegistering = ({ mode }: Pick<ParsedSettings, "mode">) =>
  mode.is((does) => does === "one" || does === "node-wide");
