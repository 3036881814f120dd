import { quoteGo } from "../logging/escape";
import type { Parsed } from "./values";

export interface GoFlag {
  /** A boolean has no value (its text is then `true`) or takes `=value`; it never takes the next word. */
  readonly boolean: boolean;
  readonly parse: (text: string) => Parsed<unknown>;
}

/**
 * Reads `argv` (without the program's name) as Go's package flag does, error texts included: one or two dashes,
 * `-flag value` or `-flag=value`, up to `--` or the first plain word. The first error ends it.
 * `-h` and `-help` ask for help, whatever value they are given. Source: func (*FlagSet) parseOne in Go's flag/flag.go.
 */
export function parseGoFlags(argv: readonly string[], flags: ReadonlyMap<string, GoFlag>) {
  /** `message` is the official's first line on stderr, its exit code is 2; `unknown` is a flag that does not exist. */
  const fail = (message: string, unknown?: string) => ({ kind: "error", message, unknown }) as const;
  /** In the order given: if a flag is repeated, the last value counts. */
  const settings: (readonly [name: string, value: unknown, text: string])[] = [];
  const words = [...argv];
  while (words[0]?.startsWith("-") && words[0] !== "-") {
    const word = words.shift() ?? "";
    if (word === "--") break;
    const [, name, given] = /^--?([^-=][^=]*)(?:=(.*))?/s.exec(word) ?? [];
    if (name === undefined) return fail(`bad flag syntax: ${word}`);

    const flag = flags.get(name);
    if (flag === undefined) {
      if (name === "h" || name === "help") return { kind: "help" } as const;
      return fail(`flag provided but not defined: -${name}`, name);
    }
    const text = given ?? (flag.boolean ? "true" : words.shift());
    if (text === undefined) return fail(`flag needs an argument: -${name}`);

    const parsed = flag.parse(text);
    if ("error" in parsed) {
      const [sort, subject] = flag.boolean ? ["boolean value", ""] : ["value", "flag "];
      return fail(`invalid ${sort} ${quoteGo(text)} for ${subject}-${name}: ${parsed.error}`);
    }
    settings.push([name, parsed.value, text]);
  }
  // Go programs without commands ignore the words after the flags.
  return { kind: "parsed", settings, rest: words } as const;
}
