import { messageOf, RegistrarError } from "../base/errors";
import { type CommandFlags, type FlagValues, readCommandFlags } from "../flags/command-flags";
import type { FlagForm, Setting } from "../flags/grammar";
import { escapeJson } from "../logging/escape";
import { print } from "./process/print";

export interface CommandLine<Flags extends CommandFlags> {
  readonly name: string;
  readonly describe: string;
  readonly flags: Flags;
  /** The registrar's flags, if the command takes those too. */
  readonly registrar?: ReadonlyMap<string, FlagForm>;
  check?(flags: FlagValues<Flags>): void;
  /** Exit code when `run` throws a RegistrarError. Default 1. */
  readonly failureExitCode?: number;
  /** Lines to copy, without the program's name. */
  readonly examples: readonly string[];
  /** What else fits on one screen: at least the exit codes. */
  readonly notes: readonly string[];
}

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
const WIDTH = 100;

/**
 * Makes one of our commands: reads its flags, prints its help, and turns a RegistrarError into one line on stderr and an
 * exit code. A mistake on the command line exits with 2 and names the nearest flag.
 */
export function createCommand<const Flags extends CommandFlags>(
  command: CommandLine<Flags>,
  run: (flags: FlagValues<Flags>, settings: readonly Setting[]) => Promise<number>,
): (argv: readonly string[]) => Promise<number> {
  const { name, flags, registrar, failureExitCode = EXIT_FAILURE } = command;
  const failWith = (exitCode: number, error: unknown) => {
    // It may have parts of a file or a word.
    process.stderr.write(`registrar ${name}: ${escapeJson(messageOf(error))}\n`);
    return exitCode;
  };
  return async (argv) => {
    if (argv.some((word) => /^--?h(elp)?(=|$)/.test(word))) return print(`${await helpOf(command)}\n`);
    let line: ReturnType<typeof readCommandFlags<Flags>>;
    try {
      line = readCommandFlags(name, flags, argv, registrar);
      command.check?.(line.values);
    } catch (error) {
      return failWith(EXIT_USAGE, error);
    }
    try {
      return await run(line.values, line.settings);
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error;
      return failWith(failureExitCode, error);
    }
  };
}

async function helpOf({
  name,
  describe,
  flags,
  examples,
  notes,
}: CommandLine<CommandFlags>): Promise<string> {
  const { createHelp } = await import("./help");
  // Without types: each description has what the flag takes.
  const rows = Object.entries(flags).map(([flag, row]) => {
    const {
      alias = [],
      required: demandOption = false,
      hidden = false,
      defaultDescription = row.default,
    } = row;
    const shown = { alias, demandOption, hidden, describe: row.describe, group: "Flags:" };
    return [flag, { ...shown, ...(defaultDescription !== undefined && { defaultDescription }) }];
  });
  const help = await createHelp("registrar", Math.min(process.stdout.columns ?? WIDTH, WIDTH));
  return help
    .usage(`${describe}\n\nUsage: $0 ${name} [flags]`)
    .options(Object.fromEntries(rows))
    .example(examples.map((example) => [`$0 ${example}`]))
    .epilogue(notes.join("\n"))
    .getHelp();
}
