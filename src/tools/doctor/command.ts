import { attempt } from "../../base/errors";
import { parseBool } from "../../flags/values";
import { clusterMode } from "./cluster/command";
import { filesMode } from "./files/command";
import type { Mode } from "./mode";
import { nodeMode } from "./node/command";

/** The first one whose flag is given; else that of a node. */
const MODES: readonly Mode[] = [clusterMode, filesMode, nodeMode];

export const runDoctor = (argv: readonly string[]): Promise<number> => {
  const mode = MODES.find((one) => isChosen(one, argv)) ?? (isHelpOn(filesMode, argv) ? filesMode : nodeMode);
  return mode.command(MODES.filter((one) => one !== mode))(argv);
};

/** Help is asked for, with a flag of this mode that a node's does not have. */
function isHelpOn({ flags }: Mode, argv: readonly string[]): boolean {
  const names = argv.flatMap((word) => /^--?([^-=][^=]*)/.exec(word)?.[1] ?? []);
  const isOwn = (name: string) => Object.hasOwn(flags, name) && !Object.hasOwn(nodeMode.flags, name);
  return names.some((name) => /^h(?:elp)?$/.test(name)) && names.some(isOwn);
}

function isChosen({ chosenBy, flags }: Mode, argv: readonly string[]): boolean {
  const [name = ""] = chosenBy ?? [];
  const { alias = name, bare } = flags[name] ?? {};
  return argv.some((word) => {
    const [, flag, value = "true"] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const isGiven = flag !== undefined && [name, alias].includes(flag);
    return isGiven && (bare === undefined || attempt(() => parseBool(value)) !== false);
  });
}
