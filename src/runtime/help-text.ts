import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";
import { print } from "./print";

/** The widths in columns for which the build writes each help text: a page, and the usual terminal. */
export const HELP_WIDTHS = [110, 80] as const;

const STDOUT_FD = 1;

/**
 * Prints the help text of this name, for the width of the terminal. Returns the exit code. `scripts/help.mjs` writes the texts:
 * in its place it has another function, which renders `_help`.
 */
export function printHelp(name: string, _help?: object): 0 | 1 {
  const [widest, narrow] = HELP_WIDTHS;
  const isNarrow = isatty(STDOUT_FD) && process.stdout.columns < widest;
  return print(
    readFileSync(join(__dirname, "cli", "help", `${name}-${isNarrow ? narrow : widest}.txt`), "utf8"),
  );
}
