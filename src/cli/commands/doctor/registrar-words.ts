import { noSuchFlag, type Translation } from "../../command-line";
import { startProblemOf } from "../../flag-checks";
import { acceptedFlags, parseFlags } from "../../flags";
import { type GoFlag, parseGoFlags } from "../../go-flags";

const TEXT: GoFlag = { boolean: false, parse: (value) => ({ value }) };
const SWITCH: GoFlag = { ...TEXT, boolean: true };

/**
 * Puts a registrar's arguments, as they stand in a DaemonSet, into the doctor's grammar: reads them in the registrar's
 * own and keeps the flags in `own` as `--name=value`: of each the last value, or all where it is a list. The others are
 * checked as the registrar does, and dropped: one that it would refuse may be all that is wrong. `-o` and `-f` are short
 * for two of our own. Of our own, `lists` count each time they are given, and `switches` have no value.
 */
export function translateRegistrarWords(
  argv: readonly string[],
  own: readonly string[],
  {
    lists = [],
    switches = [],
  }: { readonly lists?: readonly string[]; readonly switches?: readonly string[] } = {},
): Translation {
  const longer = argv.map((word) => word.replace(/^-o(?==|$)/, "--output").replace(/^-f(?==|$)/, "--file"));
  const kindOf = (name: string) => (switches.includes(name) ? SWITCH : TEXT);
  const flags = new Map([...acceptedFlags(), ...own.map((name) => [name, kindOf(name)] as const)]);
  const line = parseGoFlags(longer, flags);
  switch (line.kind) {
    case "help":
      return { words: [] }; // The command has answered that before.
    case "error": {
      const [, unknown] = /^flag provided but not defined: -(.*)$/s.exec(line.message) ?? [];
      return {
        problem: unknown === undefined ? line.message : noSuchFlag(unknown, [...flags.keys()], "doctor"),
      };
    }
    case "parsed": {
      const kept = line.settings.filter(([name]) => own.includes(name));
      const last = new Map(kept.filter(([name]) => !lists.includes(name)));
      const all = kept.filter(([name]) => lists.includes(name));
      const words = [...last, ...all].map(([name, value]) => `--${name}=${value}`);
      return { words: line.rest.length === 0 ? words : [...words, "--", ...line.rest] };
    }
    default:
      return line satisfies never;
  }
}

/** Why the registrar would not start with those of the words that are its own; undefined where it would. */
export function startProblemIn(argv: readonly string[]): string | undefined {
  const known = acceptedFlags();
  const words: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    const [, name = "", value] = /^--?([^-=][^=]*)(=.*)?$/s.exec(word) ?? [];
    const flag = known.get(name);
    const takesNext = value === undefined && flag?.boolean !== true;
    if (flag !== undefined) words.push(word, ...(takesNext ? [argv[index + 1] ?? ""] : []));
    if (takesNext && name !== "") index += 1;
  }
  const line = parseFlags(words);
  return line.kind === "flags" ? startProblemOf(line.flags) : undefined;
}
