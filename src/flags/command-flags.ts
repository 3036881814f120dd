import { invalidOption, messageOf } from "../base/errors";
import { nearWord } from "../base/near-word";
import {
  type FieldOf,
  type Flag,
  type FlagForm,
  fieldOf,
  joinedValue,
  type Mistake,
  parseWords,
  type Setting,
  type ValueOf,
} from "./grammar";

/** A flag of one of our commands. */
export interface CommandFlag extends Flag {
  /** A letter that stands for the name. */
  readonly alias?: string;
  readonly required?: boolean;
  /** Left out of the help. */
  readonly hidden?: boolean;
  /** What the help shows instead of a default. */
  readonly defaultDescription?: string | undefined;
  /** A flag that must be given with it. */
  readonly implies?: string;
  /** A flag that must not be given with it. */
  readonly conflicts?: string;
}

export type CommandFlags = Readonly<Record<string, CommandFlag>>;

/** The flags' values; undefined: not given and without default. */
export type FlagValues<Rows extends CommandFlags> = {
  readonly [Name in keyof Rows as FieldOf<Name, Rows[Name]>]:
    | ValueOf<Rows[Name]>
    | (Rows[Name] extends { readonly default: string } | { readonly required: true } ? never : undefined);
};

/** What a command reads: its own flags, and perhaps the registrar's. */
interface Taken {
  readonly command: string;
  readonly rows: CommandFlags;
  readonly registrar: ReadonlyMap<string, FlagForm> | undefined;
}

/**
 * Reads the words after a command's name; with `registrar`, its flags too, in Go's grammar: the last value counts. Throws
 * INVALID_OPTION.
 */
export function readCommandFlags<Rows extends CommandFlags>(
  command: string,
  rows: Rows,
  argv: readonly string[],
  registrar?: ReadonlyMap<string, FlagForm>,
): { readonly values: FlagValues<Rows>; readonly settings: readonly Setting[] } {
  const settings = readSettings({ command, rows, registrar }, argv);
  const advice = `see registrar ${command} --help`;
  const textsOf = (flag: string) => settings.filter(({ name }) => name === flag).map(({ text }) => text);
  const isGiven = (flag: string | undefined) => flag !== undefined && textsOf(flag).length > 0;
  const missing = Object.keys(rows).filter((name) => rows[name]?.required && !isGiven(name));
  if (missing.length > 0) throw invalidOption(`it needs --${missing.join(" and --")}; ${advice}`);
  const values = Object.entries<CommandFlag>(rows).map(([name, row]) => {
    const given = textsOf(name);
    const { implies, conflicts } = row;
    if (isGiven(name) && implies !== undefined && !isGiven(implies))
      throw invalidOption(`--${name} needs --${implies} beside it; ${advice}`);
    if (isGiven(name) && isGiven(conflicts))
      throw invalidOption(`give --${name} or --${conflicts}, not both; ${advice}`);
    if (given.length > 1 && !row.join && !registrar) throw invalidOption(`--${name} is given more than once`);
    return [fieldOf(name, row), valueOfTexts(name, row, given)];
  });
  return { values: Object.fromEntries(values) as FlagValues<Rows>, settings };
}

/** The flags as they were given, under their long names. Their texts are parsed later: of some only the last one counts. */
function readSettings(taken: Taken, argv: readonly string[]): readonly Setting[] {
  const { command, rows, registrar } = taken;
  const names = new Map(Object.entries(rows).map(([name, { alias = name }]) => [alias, name]));
  const forms = Object.entries(rows).flatMap(([name, { alias = name, bare }]) => {
    const form = { ...(bare !== undefined && { bare }), parse: String };
    return [[name, form] as const, [alias, form] as const];
  });
  const line = parseWords(argv, new Map([...(registrar ?? []), ...forms]), registrar ? "go" : "ours");
  if (line.kind !== "parsed") throw invalidOption(mistakeText(taken, line));
  const [word] = line.rest;
  if (word !== undefined) {
    const last = line.settings.at(-1)?.name ?? "";
    throw invalidOption(
      rows[last]?.bare === ""
        ? `--${last} takes its value after "=": write --${last}=${word}`
        : `it takes flags only, no other words; see registrar ${command} --help`,
    );
  }
  return line.settings.map((setting) => ({ ...setting, name: names.get(setting.name) ?? setting.name }));
}

function mistakeText(
  { command, rows, registrar }: Taken,
  mistake: Mistake | { readonly kind: "help" },
): string {
  const advice = `see registrar ${command} --help`;
  if (mistake.kind === "help") return advice;
  const { message, unknown, incomplete, following = [] } = mistake;
  if (unknown !== undefined) {
    const near = nearWord(unknown, [...(registrar?.keys() ?? []), ...Object.keys(rows)]);
    return `there is no flag --${unknown}; ${near === undefined ? advice : `did you mean --${near}?`}`;
  }
  if (incomplete === undefined || registrar) return message;
  const [word = "", value = "-"] = following;
  const [, name] = /^--?([^-=][^=]*)/.exec(word) ?? [];
  if (name === undefined || Object.hasOwn(rows, name)) return `--${incomplete} needs a value; ${advice}`;
  const argument = word.includes("=") || value.startsWith("-") ? word : `${word}=${value}`;
  return `--${incomplete} needs a value: write --${incomplete}=${argument}`;
}

function valueOfTexts(name: string, row: CommandFlag, given: readonly string[]): unknown {
  const texts = given.length === 0 && row.default !== undefined ? [row.default] : given;
  if (texts.length === 0) return undefined;
  try {
    return joinedValue(
      row,
      (row.join ? texts : texts.slice(-1)).map((text) => row.parse(text)),
    );
  } catch (error) {
    throw invalidOption(`--${name}: ${messageOf(error)}`, { cause: error });
  }
}
