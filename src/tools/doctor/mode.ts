import { refuse } from "../../base/errors";
import type { CommandFlags } from "../../flags/command-flags";
import type { FlagForm, FlagValues, Setting } from "../../flags/grammar";
import { outputFlag, switchFlag } from "../../flags/kinds";
import { escapeJson } from "../../logging/escape";
import { print } from "../../runtime/print";
import { type CommandLine, createCommand, toolError } from "../command-line";
import { EXIT_UNKNOWN, exitCodeOf, type Report } from "./findings/report";
import type { TableLook } from "./findings/table";

/** Columns without a terminal, if COLUMNS does not say how many: man and systemctl read it, too. */
const DEFAULT_WIDTH = 100;

const EXIT_CODES =
  "Exit codes: 0 no problem found; 1 a problem found; 2 bad flag; 3 no problem found, but something is unknown, or cannot be read; 130 Ctrl-C; 143 SIGTERM.";

const REPORT_FLAGS = {
  output: outputFlag("for people or programs", ["text", "json"]),
  verbose: switchFlag("also list what is ok; the JSON always has it"),
} as const;

/** One of the commands behind `registrar doctor`. */
export interface Mode {
  /** The flag that chooses it, and as a user writes it; undefined: the mode without such a flag. */
  readonly chosenBy: readonly [flag: string, written: string] | undefined;
  readonly flags: CommandFlags;
  /** Its command. A flag that only the other modes have is refused, with what it needs. */
  command(others: readonly Mode[]): (argv: readonly string[]) => Promise<number>;
}

interface ModeLine<Flags extends CommandFlags> extends Omit<CommandLine<Flags>, "name"> {
  readonly chosenBy?: readonly [flag: keyof Flags & string, written: string];
  /** The form of its JSON. */
  readonly schema: string;
}

export function createMode<const Flags extends CommandFlags>(
  { chosenBy, schema, ...line }: ModeLine<Flags>,
  look: (
    flags: FlagValues<Flags>,
    settings: readonly Setting[],
  ) => Promise<{ report: Pick<Report, "summary">; render(look: TableLook): string }>,
): Mode {
  const flags = { ...line.flags, ...REPORT_FLAGS };
  const notes = [...line.notes, EXIT_CODES];
  const run = async (values: FlagValues<Flags>, settings: readonly Setting[]) => {
    const { output, verbose } = values as FlagValues<Flags> & FlagValues<typeof REPORT_FLAGS>;
    const toJson = (value: object) => `${escapeJson(JSON.stringify(value, null, 2))}\n`;
    try {
      const { report, render } = await look(values, settings);
      const { isTTY, columns: width = Math.max(0, Number(process.env.COLUMNS)) || DEFAULT_WIDTH } =
        process.stdout;
      const people = { width, colors: isTTY && process.stdout.hasColors(), isVerbose: verbose };
      const written = print(output === "json" ? toJson(report) : render(people));
      // A full disk or a closed pipe is no problem of a driver.
      return written === 0 ? exitCodeOf(report.summary) : EXIT_UNKNOWN;
    } catch (thrown) {
      const error = toolError(thrown);
      if (output === "json") print(toJson({ schema, error: error.message }));
      throw error;
    }
  };
  return {
    chosenBy,
    flags,
    command: (others) => {
      const name = "doctor";
      const failureExitCode = EXIT_UNKNOWN;
      const more = misplacedFlags(flags, chosenBy?.[1], line.registrar, others);
      // Go's grammar, as a registrar's flags have it: a value may be -, and the last one counts.
      const registrar = new Map<string, FlagForm>();
      const mode = chosenBy && { mode: chosenBy[0] };
      const own = { flags: { ...flags, ...more } as Flags, notes };
      return createCommand({ failureExitCode, registrar, ...mode, ...line, name, ...own }, run);
    },
  };
}

function misplacedFlags(
  own: CommandFlags,
  written: string | undefined,
  registrar: ReadonlyMap<string, FlagForm> | undefined,
  others: readonly Mode[],
): CommandFlags {
  const names = others
    .flatMap(({ flags }) => Object.keys(flags))
    .filter((name) => !Object.hasOwn(own, name) && !registrar?.has(name));
  return Object.fromEntries(
    names.map((name) => {
      const homes = others.filter(({ flags }) => Object.hasOwn(flags, name));
      const needed = homes.flatMap(({ chosenBy }) => chosenBy?.[1] ?? []);
      const why = written ? `cannot be used with ${written}` : `works only with ${needed.join(" or ")}`;
      const { alias, bare } = homes[0]?.flags[name] ?? {};
      // A switch that is on has chosen its mode: this one is off.
      const row = { describe: "", hidden: true, parse: () => bare === "true" || refuse(why) };
      return [name, { ...row, ...(alias && { alias }), ...(bare !== undefined && { bare }) }];
    }),
  );
}
