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

/**
 * Reads the words after a command's name. `registrar` has the registrar's own flags if the command takes its arguments as
 * they stand in a DaemonSet: then Go's grammar holds, of a repeated flag the last value counts, and `settings` has the
 * registrar's flags too. Throws INVALID_OPTION.
 */
export function readCommandFlags<Rows extends CommandFlags>(
  command: string,
  rows: Rows,
  argv: readonly string[],
  registrar?: ReadonlyMap<string, FlagForm>,
): { readonly values: FlagValues<Rows>; readonly settings: readonly Setting[] } {
  const advice = `see registrar ${command} --help`;
  const flags = Object.entries<CommandFlag>(rows);
  const nameOf = new Map(flags.map(([name, { alias = name }]) => [alias, name]));
  /** Our own flags' texts are read below: only the last one counts if a flag is repeated. */
  const forms = new Map<string, FlagForm>(
    flags.flatMap(([name, { alias = name, bare }]) => {
      const form = { ...(bare !== undefined && { bare }), parse: String };
      return [[name, form] as const, [alias, form] as const];
    }),
  );
  const mistakeText = ({ message, unknown, incomplete, following = [] }: Mistake) => {
    if (unknown !== undefined) {
      const near = nearWord(unknown, [...(registrar?.keys() ?? []), ...Object.keys(rows)]);
      return `there is no flag --${unknown}; ${near === undefined ? advice : `did you mean --${near}?`}`;
    }
    if (incomplete === undefined || registrar) return message;
    const [word = "", value = "-"] = following;
    const [, name] = /^--?([^-=][^=]*)/.exec(word) ?? [];
    if (name === undefined || forms.has(name)) return `--${incomplete} needs a value; ${advice}`;
    const argument = word.includes("=") || value.startsWith("-") ? word : `${word}=${value}`;
    return `--${incomplete} needs a value: write --${incomplete}=${argument}`;
  };
  const line = parseWords(argv, new Map([...(registrar ?? []), ...forms]), registrar ? "go" : "ours");
  if (line.kind === "help") throw invalidOption(advice);
  if (line.kind === "error") throw invalidOption(mistakeText(line));
  if (line.rest.length > 0) throw invalidOption(`it takes flags only, no other words; ${advice}`);

  const settings = line.settings.map((setting) => ({
    ...setting,
    name: nameOf.get(setting.name) ?? setting.name,
  }));
  const textsOf = (flag: string) => settings.filter(({ name }) => name === flag).map(({ text }) => text);
  const isGiven = (flag: string) => textsOf(flag).length > 0;
  const missing = flags.filter(([name, { required }]) => required && !isGiven(name)).map(([name]) => name);
  if (missing.length > 0) throw invalidOption(`it needs --${missing.join(" and --")}; ${advice}`);

  const values = flags.map(([name, row]) => {
    const given = textsOf(name);
    if (row.implies !== undefined && isGiven(name) && !isGiven(row.implies))
      throw invalidOption(`--${name} needs --${row.implies} beside it; ${advice}`);
    if (row.conflicts !== undefined && isGiven(name) && isGiven(row.conflicts))
      throw invalidOption(`give --${name} or --${row.conflicts}, not both; ${advice}`);
    if (given.length > 1 && !row.join && !registrar) throw invalidOption(`--${name} is given more than once`);
    const texts = isGiven(name) ? given : row.default === undefined ? [] : [row.default];
    try {
      const items = (row.join ? texts : texts.slice(-1)).map((text) => row.parse(text));
      return [fieldOf(name, row), items.length === 0 ? undefined : joinedValue(row, items)];
    } catch (error) {
      throw invalidOption(`--${name}: ${messageOf(error)}`, { cause: error });
    }
  });
  return { values: Object.fromEntries(values) as FlagValues<Rows>, settings };
}
