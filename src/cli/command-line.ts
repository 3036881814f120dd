import type { CamelCaseKey, InferredOptionTypes, Options } from "yargs";
import { RegistrarError } from "../errors";
import { nearWord } from "../options/near-word";
import { print } from "./print";

/** Words in the grammar of our commands. */
export interface Translated {
  readonly words: readonly string[];
  /** What was noticed on the way: is handed on beside the flags. */
  readonly remark?: string | undefined;
}

/** What became of words of another grammar, or what is wrong with them. */
export type Translation = Translated | { readonly problem: string };

/** A command of ours as its user sees it. */
export interface CommandLine<Flags extends FlagRows> {
  readonly name: string;
  /** What it does, in a few lines of help. */
  readonly describe: string;
  /** In the order of the help. */
  readonly flags: Flags;
  /** Puts words of another grammar into that of our commands, or says what is wrong with them. */
  translate?(argv: readonly string[]): Translation;
  /** What is wrong with flags that are right each by itself; undefined where nothing is. */
  check?(flags: FlagValues<Flags>): string | undefined;
  /** Exit code of a failure that is no bug. Default 1. */
  readonly failureExitCode?: number;
  /** Lines to copy, without the program's name. */
  readonly examples: readonly string[];
  /** What else fits on one screen: at least the exit codes. */
  readonly notes: readonly string[];
}

type FlagRows = Readonly<Record<string, Options>>;

/** The flags' values: `--csi-address` is `csiAddress`; undefined where not given and without default. */
export type FlagValues<Flags extends FlagRows> = {
  readonly [Name in keyof InferredOptionTypes<Flags> as CamelCaseKey<Name>]: InferredOptionTypes<Flags>[Name];
};

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
const WIDTH = 100;

/**
 * Makes one of our commands: reads its flags, prints its help, and turns a failure that is no bug into one line on
 * stderr and exit code 1. A mistake on the command line exits with 2 and names the flag that was probably meant.
 *
 * These commands have GNU's grammar, parsed by yargs; a single dash works like two. The drop-in default command has
 * Go's grammar and shares nothing with this file. A command that takes its flags translates them first.
 */
export function createCommand<const Flags extends FlagRows>(
  commandLine: CommandLine<Flags>,
  run: (flags: FlagValues<Flags>, remark: string | undefined) => Promise<number>,
): (argv: readonly string[]) => Promise<number> {
  const printError = (text: string) => process.stderr.write(`registrar ${commandLine.name}: ${text}\n`);
  return async (argv) => {
    const parser = await createParser(commandLine);
    if (argv.some((word) => /^--?h(elp)?(=|$)/.test(word))) {
      return print(`${withoutTypes(await parser.getHelp())}\n`);
    }
    const translated: Translation = commandLine.translate?.(argv) ?? { words: argv };
    if ("problem" in translated) {
      printError(translated.problem);
      return EXIT_USAGE;
    }
    const { words } = translated;
    let flags: FlagValues<Flags>;
    try {
      flags = parser.parseSync([...words]) as unknown as FlagValues<Flags>;
    } catch (error) {
      printError(explain(error, words, commandLine));
      return EXIT_USAGE;
    }
    const problem = commandLine.check?.(flags);
    if (problem !== undefined) {
      printError(problem);
      return EXIT_USAGE;
    }
    try {
      return await run(flags, translated.remark);
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      printError(error.message);
      return commandLine.failureExitCode ?? EXIT_FAILURE;
    }
  };
}

/** yargs is a large ES module, so it is loaded only for one of our commands. Here it prints nothing and never exits. */
async function createParser({
  name,
  describe,
  flags,
  examples,
  notes,
}: Omit<CommandLine<FlagRows>, "check" | "translate">) {
  const { default: yargs } = await import("yargs");
  const rows = Object.entries(flags).map(([flag, row]) => [flag, told(flag, row)]);
  return yargs([])
    .scriptName("registrar")
    .locale("en")
    .help(false)
    .version(false)
    .exitProcess(false)
    .fail(false)
    .strictOptions()
    .demandCommand(0, 0)
    .parserConfiguration({
      "boolean-negation": false,
      "dot-notation": false,
      "greedy-arrays": false,
      "parse-numbers": false,
      "short-option-groups": false,
    })
    .wrap(Math.min(process.stdout.columns ?? WIDTH, WIDTH))
    .usage(`${describe}\n\nUsage: $0 ${name} [flags]`)
    .options(Object.fromEntries(rows) as Record<string, Options>)
    .group(Object.keys(flags), "Flags:")
    .example(examples.map((example) => [`$0 ${example}`]))
    .epilogue(notes.join("\n"));
}

/** The row, which rejects a second value, and whose errors name the flag. */
function told(flag: string, row: Options): Options {
  const { coerce = (value: unknown) => value } = row;
  const byDefault = typeof row.default === "string" ? { defaultDescription: row.default } : {};
  return {
    ...row,
    ...byDefault,
    coerce: (value: unknown) => {
      if (Array.isArray(value) && row.array !== true) throw new Error(`--${flag} is given more than once`);
      try {
        return coerce(value);
      } catch (error) {
        throw new Error(`--${flag}: ${(error as Error).message}`);
      }
    },
  };
}

/** The help without the types that yargs adds: each description says what the flag takes. */
function withoutTypes(help: string): string {
  return help
    .replace(/\[(?:string|boolean|array)\]/g, (type) => " ".repeat(type.length))
    .replace(/ +$/gm, "");
}

/** Says that a command has no such flag, and which was probably meant. */
export function noSuchFlag(flag: string, known: readonly string[], command: string): string {
  const near = nearWord(flag, known);
  const advice = near === undefined ? `see registrar ${command} --help` : `did you mean --${near}?`;
  return `there is no flag --${flag}; ${advice}`;
}

/** yargs' message for a mistake, in better words where we have them. */
function explain(
  error: unknown,
  argv: readonly string[],
  { name, flags }: Pick<CommandLine<FlagRows>, "name" | "flags">,
): string {
  if (!(error instanceof Error)) throw error;
  const advice = `see registrar ${name} --help`;
  const known = Object.keys(flags);
  const unknown = argv
    .filter((word) => /^--?[^-]/.test(word))
    .map((word) => word.replace(/^--?|=.*$/gs, ""))
    .find((flag) => !known.includes(flag));
  const [what = ""] =
    /^(?:Unknown arg|Missing req|Not enough arg|Implications|Too many)/.exec(error.message) ?? [];
  const [, names = "", needed = ""] = /:\s*(.*?)(?: -> (.*))?$/.exec(error.message) ?? [];
  if (unknown !== undefined && /^(?:Unknown|Missing)/.test(what)) return noSuchFlag(unknown, known, name);
  switch (what) {
    case "Missing req":
      return `it needs --${names.split(", ").join(" and --")}; ${advice}`;
    case "Not enough arg":
      return `--${names} needs a value; ${advice}`;
    case "Implications":
      return `--${names} needs --${needed} beside it; ${advice}`;
    case "Too many":
      return `it takes flags only, no other words; ${advice}`;
    default:
      return error.message;
  }
}
