import type { Options } from "yargs";
import { startProblemOf } from "../../../flags/checks";
import { parseGoFlags } from "../../../flags/grammar";
import { acceptedFlags, parseFlags } from "../../../flags/table";
import { noSuchFlag } from "../../command-line";

type OwnFlags = Readonly<Record<string, Pick<Options, "type" | "array">>>;

/**
 * Puts a registrar's arguments, as they stand in a DaemonSet, into the doctor's grammar: reads them in the registrar's
 * own and keeps the doctor's flags as `--name=value`: of each the last value, or all of a list. The others are checked
 * as the registrar does, and dropped. Throws for arguments that the registrar refuses, which may be all that is wrong.
 */
export function translateRegistrarWords(argv: readonly string[], own: OwnFlags): readonly string[] {
  const { settings, rest } = readWords(argv, own);
  const kept = settings.filter(([name]) => Object.hasOwn(own, name));
  const last = new Map(kept.filter(([name]) => !own[name]?.array));
  const all = kept.filter(([name]) => own[name]?.array);
  const words = wordsOf([...last, ...all]);
  return rest.length === 0 ? words : [...words, "--", ...rest];
}

/** Why the registrar would not start with those of the arguments that are its own; undefined if it would. */
export function startProblemIn(argv: readonly string[], own: OwnFlags): string | undefined {
  const known = acceptedFlags();
  const line = parseFlags(wordsOf(readWords(argv, own).settings.filter(([name]) => known.has(name))));
  return line.kind === "flags" ? startProblemOf(line.flags) : undefined;
}

type Settings = readonly (readonly [name: string, text: string])[];

/** The flags as they were typed, and the words after them. `-o` and `-f` are short for two of the doctor's own; `--swap` may have a value. */
function readWords(
  argv: readonly string[],
  own: OwnFlags,
): { readonly settings: Settings; readonly rest: readonly string[] } {
  const longer = argv.map((word) =>
    word
      .replace(/^-o(?==|$)/, "--output")
      .replace(/^-f(?==|$)/, "--file")
      .replace(/^--?swap$/, "--swap="),
  );
  const flags = new Map(acceptedFlags());
  for (const [name, { type }] of Object.entries(own))
    flags.set(name, { boolean: type === "boolean", parse: (value) => ({ value }) });
  const line = parseGoFlags(longer, flags);
  // The command has answered a wish for help before.
  if (line.kind === "help") return { settings: [], rest: [] };
  if (line.kind === "error")
    throw new Error(line.unknown ? noSuchFlag(line.unknown, [...flags.keys()], "doctor") : line.message);
  return { settings: line.settings.map(([name, , text]) => [name, text]), rest: line.rest };
}

const wordsOf = (settings: Settings) => settings.map(([name, text]) => `--${name}=${text}`);
