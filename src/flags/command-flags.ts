import { invalidOption, messageOf } from "../base/errors";
import { nearWord } from "../base/near-word";
import { type Flag, type FlagForm, type FlagValues, fieldOf, joinedValue, parseWords } from "./grammar";

export interface CommandFlag extends Flag {
  /** A letter that stands for the name. */
  readonly alias?: string;
  readonly required?: boolean;
  readonly hidden?: boolean;
  /** What the help shows instead of a default. */
  readonly defaultDescription?: string | undefined;
  /** A flag that must be given with it. */
  readonly implies?: string;
  /** A flag that must not be given with it. */
  readonly conflicts?: string;
}

export type CommandFlags = Readonly<Record<string, CommandFlag>>;

/** The registrar's flags, if a command takes those too. */
type Registrar = ReadonlyMap<string, FlagForm> | undefined;

/**
 * Reads the words after a command's name; with `registrar`, its flags too, in Go's grammar: the last value counts. Throws
 * INVALID_OPTION.
 */
export function readCommandFlags<Rows extends CommandFlags>(
  command: string,
  rows: Rows,
  argv: readonly string[],
  registrar?: Registrar,
) {
  const advice = `see registrar ${command} --help`;
  const settings = readSettings(rows, argv, advice, registrar);
  const textsOf = (flag: string) => settings.filter(({ name }) => name === flag).map(({ text }) => text);
  const missing = Object.entries<CommandFlag>(rows).flatMap(([name, { required }]) =>
    required && textsOf(name).length === 0 ? name : [],
  );
  if (missing.length > 0) throw invalidOption(`it needs --${missing.join(" and --")}; ${advice}`);
  const values: Record<string, unknown> = {};
  /** Those that were given, except switches that were given as false. */
  const on = new Set<string | undefined>();
  for (const [name, row] of Object.entries<CommandFlag>(rows)) {
    const texts = textsOf(name);
    if (texts.length > 1 && !row.join && !registrar) throw invalidOption(`--${name} is given more than once`);
    const value = valueOfTexts(name, row, texts);
    values[fieldOf(name, row)] = value;
    if (texts.length > 0 && value !== false) on.add(name);
  }
  for (const [name, { implies = name, conflicts }] of Object.entries<CommandFlag>(rows)) {
    if (!on.has(name)) continue;
    if (!on.has(implies)) throw invalidOption(`--${name} needs --${implies} beside it; ${advice}`);
    if (on.has(conflicts)) throw invalidOption(`give --${name} or --${conflicts}, not both; ${advice}`);
  }
  return { values: values as FlagValues<Rows>, settings };
}

/** The flags as they were given, under their long names. Their texts are parsed later: of some only the last one counts. */
function readSettings(rows: CommandFlags, argv: readonly string[], advice: string, registrar: Registrar) {
  const names = new Map(Object.entries(rows).map(([name, { alias = name }]) => [alias, name]));
  const forms = Object.entries(rows).flatMap(([name, { alias = name, bare }]) => {
    const form = { bare, parse: String };
    return [[name, form] as const, [alias, form] as const];
  });
  const line = parseWords(argv, new Map([...(registrar ?? []), ...forms]), registrar ? "go" : "ours");
  if (line.kind === "help") throw invalidOption(advice);
  if (line.kind === "error") {
    const { message, unknown, incomplete } = line;
    if (unknown !== undefined) {
      const near = nearWord(unknown, [...(registrar?.keys() ?? []), ...Object.keys(rows)]);
      const hint = near === undefined ? advice : `did you mean --${near}?`;
      throw invalidOption(`there is no flag --${unknown}; ${hint}`);
    }
    if (incomplete === undefined || registrar) throw invalidOption(message);
    const [flag, word = "", value = "-"] = incomplete;
    const [, name] = /^--?([^-=][^=]*)/.exec(word) ?? [];
    const argument = word.includes("=") || value.startsWith("-") ? word : `${word}=${value}`;
    const isMeant = name !== undefined && !Object.hasOwn(rows, name);
    throw invalidOption(
      `--${flag} needs a value${isMeant ? `: write --${flag}=${argument}` : `; ${advice}`}`,
    );
  }
  const settings = line.settings.map((one) => ({ ...one, name: names.get(one.name) ?? one.name }));
  const [word] = line.rest;
  if (word === undefined) return settings;
  const last = settings.at(-1)?.name ?? "";
  const { bare, join } = rows[last] ?? {};
  if (bare === "") throw invalidOption(`--${last} takes its value after "=": write --${last}=${word}`);
  throw invalidOption(`"${word}" is no flag; ${join ? `write --${last}=${word}` : advice}`);
}

function valueOfTexts(name: string, row: CommandFlag, given: readonly string[]): unknown {
  const texts = given.length === 0 && row.default !== undefined ? [row.default] : given;
  if (texts.length === 0) return undefined;
  const counted = row.join ? texts : texts.slice(-1);
  try {
    return joinedValue(
      row,
      counted.map((text) => row.parse(text)),
    );
  } catch (error) {
    throw invalidOption(`--${name}: ${messageOf(error)}`);
  }
}
