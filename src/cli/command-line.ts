import type { CamelCaseKey, InferredOptionTypes, Options } from "yargs";
import { messageOf, RegistrarError } from "../base/errors";
import { nearWord } from "../base/near-word";
import { escapeJson } from "../logging/escape";
import { print } from "./print";

export interface CommandLine<Flags extends FlagRows> {
  readonly name: string;
  readonly describe: string;
  readonly flags: Flags;
  /** Puts words of another grammar into that of our commands. Throws with what is wrong with them. */
  translate?(argv: readonly string[]): readonly string[];
  check?(flags: FlagValues<Flags>): void;
  /** Exit code when `run` throws a RegistrarError. Default 1. */
  readonly failureExitCode?: number;
  /** Lines to copy, without the program's name. */
  readonly examples: readonly string[];
  /** What else fits on one screen: at least the exit codes. */
  readonly notes: readonly string[];
}

type FlagRows = Readonly<Record<string, Options>>;

/** The flags' values: `--csi-address` is `csiAddress`; undefined: not given and without default. */
export type FlagValues<Flags extends FlagRows> = {
  readonly [Name in keyof InferredOptionTypes<Flags> as CamelCaseKey<Name>]: InferredOptionTypes<Flags>[Name];
};

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
const WIDTH = 100;

/**
 * Makes one of our commands: reads its flags, prints its help, and turns a RegistrarError into one line on stderr and an
 * exit code. A mistake on the command line exits with 2 and names the nearest flag.
 *
 * These commands have GNU's grammar, parsed by yargs; a single dash works like two. The drop-in default command has
 * Go's grammar and shares nothing with this file. A command that takes its flags translates them first.
 */
export function createCommand<const Flags extends FlagRows>(
  commandLine: CommandLine<Flags>,
  run: (flags: FlagValues<Flags>, argv: readonly string[]) => Promise<number>,
): (argv: readonly string[]) => Promise<number> {
  const { name, flags: rows } = commandLine;
  const failWith = (exitCode: number, text: string) => {
    // It may have parts of a file or a word.
    process.stderr.write(`registrar ${name}: ${escapeJson(text)}\n`);
    return exitCode;
  };
  return async (argv) => {
    if (argv.some((word) => /^--?h(elp)?(=|$)/.test(word))) return print(`${await helpOf(commandLine)}\n`);
    let flags: FlagValues<Flags>;
    try {
      const words = commandLine.translate?.(argv) ?? argv;
      flags = valuesOf(name, rows, await parseWords(rows, words)) as FlagValues<Flags>;
      commandLine.check?.(flags);
    } catch (error) {
      return failWith(EXIT_USAGE, messageOf(error));
    }
    try {
      return await run(flags, argv);
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      return failWith(commandLine.failureExitCode ?? EXIT_FAILURE, error.message);
    }
  };
}

async function helpOf({ name, describe, flags, examples, notes }: CommandLine<FlagRows>): Promise<string> {
  const { createHelp } = await import("./help");
  // Without types: each description has what the flag takes.
  const rows = Object.entries(flags).map(([flag, row]) => {
    const { alias, demandOption = false, hidden = false, defaultDescription = row.default } = row;
    const shown = { alias: alias ?? [], demandOption, hidden, describe: row.describe, group: "Flags:" };
    return [flag, { ...shown, ...(defaultDescription !== undefined && { defaultDescription }) }];
  });
  const help = await createHelp("registrar", Math.min(process.stdout.columns ?? WIDTH, WIDTH));
  return help
    .usage(`${describe}\n\nUsage: $0 ${name} [flags]`)
    .options(Object.fromEntries(rows) as Record<string, Options>)
    .example(examples.map((example) => [`$0 ${example}`]))
    .epilogue(notes.join("\n"))
    .getHelp();
}

/** What was given: a text, a list of texts for a flag that is repeated, true without its value; in `_` all other words. */
interface Arguments {
  readonly _: readonly unknown[];
  readonly [flag: string]: unknown;
}

/** Reads the words with yargs' parser. It gets booleans as texts, because its own are false for every value except `true`. */
async function parseWords(rows: FlagRows, words: readonly string[]): Promise<Arguments> {
  const { Parser } = await import("yargs/helpers");
  const entries = Object.entries(rows);
  const switches = entries.filter(([, { type }]) => type === "boolean");
  const names = switches.flatMap(([flag, { alias }]) => [flag, alias ?? []].flat());
  const isSwitch = (word: string) => names.some((name) => word === `--${name}` || word === `-${name}`);
  const withValues = words.map((word) => (isSwitch(word) ? `${word}=true` : word));
  return Parser(withValues, {
    alias: Object.fromEntries(entries.map(([flag, { alias }]) => [flag, [alias ?? []].flat()])),
    configuration: {
      "boolean-negation": false,
      "camel-case-expansion": false,
      "dot-notation": false,
      "parse-numbers": false,
      "short-option-groups": false,
      "strip-aliased": true,
    },
  });
}

function valuesOf(command: string, rows: FlagRows, { _: words, ...given }: Arguments): object {
  const advice = `see registrar ${command} --help`;
  const unknown = Object.keys(given).find((flag) => !Object.hasOwn(rows, flag));
  if (unknown !== undefined) refuse(noSuchFlag(unknown, Object.keys(rows), command));
  if (words.length > 0) refuse(`it takes flags only, no other words; ${advice}`);
  const isGiven = (flag: unknown) => Object.hasOwn(given, String(flag));
  const missing = Object.keys(rows).filter((flag) => rows[flag]?.demandOption && !isGiven(flag));
  if (missing.length > 0) refuse(`it needs --${missing.join(" and --")}; ${advice}`);
  const values = Object.entries(rows).map(([flag, row]) => {
    if (!isGiven(flag)) return [flag, readFlag(flag, row, row.default)];
    if (given[flag] === true) refuse(`--${flag} needs a value; ${advice}`);
    if (row.implies !== undefined && !isGiven(row.implies))
      refuse(`--${flag} needs --${row.implies} beside it; ${advice}`);
    if (row.conflicts !== undefined && isGiven(row.conflicts))
      refuse(`give --${flag} or --${row.conflicts}, not both; ${advice}`);
    return [flag, readFlag(flag, row, given[flag])];
  });
  return Object.fromEntries(values.map(([flag, value]) => [camelCase(String(flag)), value]));
}

function refuse(problem: string): never {
  throw new Error(problem);
}

function readFlag(flag: string, { array, coerce }: Options, given: unknown): unknown {
  if (given === undefined) return undefined;
  if (Array.isArray(given) && !array) refuse(`--${flag} is given more than once`);
  const value = array ? [given].flat() : given;
  try {
    return coerce ? coerce(value) : value;
  } catch (error) {
    throw new Error(`--${flag}: ${messageOf(error)}`);
  }
}

export const camelCase = (flag: string) => flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

export function noSuchFlag(flag: string, known: readonly string[], command: string): string {
  const near = nearWord(flag, known);
  const advice = near === undefined ? `see registrar ${command} --help` : `did you mean --${near}?`;
  return `there is no flag --${flag}; ${advice}`;
}
