import { errnoOf, messageOf, RegistrarError } from "../base/errors";
import { type CommandFlags, readCommandFlags } from "../flags/command-flags";
import type { FlagForm, FlagValues, Setting } from "../flags/grammar";
import { printHelp } from "../runtime/help-text";
import { printError } from "../runtime/print";
import { isShortage, shortageText } from "../unix/descriptors";

export interface CommandLine<Flags extends CommandFlags> {
  readonly name: string;
  readonly describe: string;
  readonly flags: Flags;
  /** Lines to copy, without the program's name. */
  readonly examples: readonly string[];
  /** What else fits on one screen: at least the exit codes. */
  readonly notes: readonly string[];
  /** Tells the help text from others of the same command. */
  readonly mode?: string;
  /** The registrar's flags, if the command takes those too. */
  readonly registrar?: ReadonlyMap<string, FlagForm>;
  check?(flags: FlagValues<Flags>): void;
  /** Exit code when `run` throws a RegistrarError. Default 1. */
  readonly failureExitCode?: number;
}

const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;

// Each part of the bundle has a class of its own.
const isOurs = (error: unknown): error is RegistrarError =>
  error instanceof Error && error.name === RegistrarError.name;

/** An error as a command ends with it: anything unexpected is a fault of ours, and is called so. */
export function toolError(error: unknown): RegistrarError {
  if (isOurs(error)) return error;
  const shortage = shortageText(error);
  const message =
    shortage === undefined
      ? `a fault of this program, please report it: ${messageOf(error)}`
      : shortage + (errnoOf(error) === "EMFILE" ? "; see ulimit -n" : "");
  return new RegistrarError("INTERNAL", message, { cause: error });
}

/** Makes a command: it exits with 2 for a mistake on the command line, and with `failureExitCode` for a RegistrarError. */
export function createCommand<const Flags extends CommandFlags>(
  command: CommandLine<Flags>,
  run: (flags: FlagValues<Flags>, settings: readonly Setting[]) => Promise<number>,
): (argv: readonly string[]) => Promise<number> {
  const { name, mode, flags, registrar, failureExitCode = EXIT_FAILURE } = command;
  const failWith = (exitCode: number, error: unknown) => {
    printError(`registrar ${name}: ${messageOf(error)}`);
    return exitCode;
  };
  return async (argv) => {
    if (argv.some((word) => /^--?h(elp)?(=|$)/.test(word)))
      return printHelp(`${name.replace(" --", "-")}${mode === undefined ? "" : `-${mode}`}`, command);
    let line: ReturnType<typeof readCommandFlags<Flags>>;
    try {
      line = readCommandFlags(name, flags, argv, registrar);
      command.check?.(line.values);
    } catch (error) {
      return failWith(EXIT_USAGE, error);
    }
    try {
      return await run(line.values, line.settings);
    } catch (thrown) {
      const error = isShortage(thrown) ? toolError(thrown) : thrown;
      if (!isOurs(error)) throw error;
      return failWith(failureExitCode, error);
    }
  };
}
