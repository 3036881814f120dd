import type { CamelCaseKey } from "yargs";
import { messageOf } from "../base/errors";
import { quoteGo } from "../logging/escape";
import type { OptionKind } from "../options/option-kinds";

/** The official registrar's probe, which proves nothing. Not in the table, which a registration does not load. */
export const OFFICIAL_PROBE_MODE = "kubelet-registration-probe";

/** One flag: a row of a table from which the parser, the typed values and the help follow. */
export interface Flag {
  readonly describe: string;
  /** Throws for an invalid text; the message says why. */
  readonly parse: (text: string) => unknown;
  /** The value of the flag alone: `true` for a boolean. A flag that has one takes `=value`, and never the next word. */
  readonly bare?: string | undefined;
  /** Makes the value out of all that were given. Without it the last one counts. */
  readonly join?: (items: readonly never[]) => unknown;
  /** What the value must be beyond the official registrar's grammar, which a registration checks when it starts. */
  readonly kind?: OptionKind<unknown>;
  /** The value when it is not given, as a user would type it. */
  readonly default?: string;
  /** Ends the name of the value: that of a duration is in milliseconds. */
  readonly unit?: "Ms";
}

/** What the grammar needs of a flag. */
export type FlagForm = Pick<Flag, "bare" | "parse">;

type ValueOf<Row> = Row extends { readonly join: (items: never) => infer Value }
  ? Value
  : Row extends { readonly parse: (text: string) => infer Value }
    ? Value
    : never;

/** `--csi-address` is `csiAddress`, a duration such as `--timeout` is `timeoutMs`. */
type FieldOf<Name extends PropertyKey, Row> = Row extends { readonly unit: "Ms" }
  ? `${CamelCaseKey<Name> & string}Ms`
  : CamelCaseKey<Name>;

/** The values of a table's flags by their fields; undefined: not given and without default. */
export type FlagValues<Rows> = {
  readonly [Name in keyof Rows as FieldOf<Name, Rows[Name]>]:
    | ValueOf<Rows[Name]>
    | (Rows[Name] extends { readonly default: string } | { readonly required: true } ? never : undefined);
};

export const fieldOf = (name: string, { unit }: Pick<Flag, "unit"> = {}): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()) + (unit ?? "");

/** The value of a flag that was given as these. */
export const joinedValue = ({ join }: Flag, items: readonly unknown[]): unknown =>
  join ? join(items as readonly never[]) : items.at(-1);

export interface Setting {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

interface Mistake {
  readonly kind: "error";
  /** The official registrar's first line on stderr; its exit code is 2. */
  readonly message: string;
  /** A flag that does not exist. */
  readonly unknown?: string;
  /** A flag without its value, and the words that follow. */
  readonly incomplete?: readonly [name: string, ...following: readonly string[]];
}

/** A word that looks like a flag; a negative number does not. */
const DASHED = /^-(?!(?:\d+|\d*\.\d+)$)/;
const QUOTED = /^(["'])(.*)\1$/s;

/**
 * Reads `argv` as Go's package flag does, error texts included, up to the first error, `--` or plain word; `-h` and `-help` ask
 * for help, whatever value they are given. Source: func (*FlagSet) parseOne in Go's flag/flag.go. `ours` is the grammar of our own
 * commands: a value that begins with a dash is given after `=`, where quotes around it are dropped.
 */
export function parseWords(
  argv: readonly string[],
  flags: ReadonlyMap<string, FlagForm>,
  grammar: "go" | "ours" = "go",
) {
  const fail = (message: string, more: Partial<Mistake> = {}): Mistake => ({
    kind: "error",
    message,
    ...more,
  });
  /** In the order given. */
  const settings: Setting[] = [];
  const words = [...argv];
  while (words[0]?.startsWith("-") && words[0] !== "-") {
    const word = words.shift() ?? "";
    if (word === "--") break;
    const [, name, given] = /^--?([^-=][^=]*)(?:=(.*))?/s.exec(word) ?? [];
    if (name === undefined) return fail(`bad flag syntax: ${word}`);

    const flag = flags.get(name);
    if (flag === undefined) {
      if (name === "h" || name === "help") return { kind: "help" } as const;
      return fail(`flag provided but not defined: -${name}`, { unknown: name });
    }
    const isNext = grammar === "go" || !DASHED.test(words[0] ?? "");
    const behind = grammar === "go" ? given : given?.replace(QUOTED, "$2");
    const text = behind ?? flag.bare ?? (isNext ? words.shift() : undefined);
    if (text === undefined) return fail(`flag needs an argument: -${name}`, { incomplete: [name, ...words] });

    try {
      settings.push({ name, text, value: flag.parse(text) });
    } catch (error) {
      const [sort, subject] = flag.bare === undefined ? ["value", "flag "] : ["boolean value", ""];
      return fail(`invalid ${sort} ${quoteGo(text)} for ${subject}-${name}: ${messageOf(error)}`);
    }
  }
  // Go programs without commands ignore the words after the flags.
  return { kind: "parsed", settings, rest: words } as const;
}
