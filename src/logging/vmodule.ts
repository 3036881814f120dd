import { RegistrarError } from "../errors";
import { quoteGo } from "./escape";
import { compileGlob } from "./glob";

const MAX_VERBOSITY = 2 ** 31 - 1;

/** One `pattern=N` of `--vmodule`. */
export interface VmoduleRule {
  /** A file name without folder and extension, or a glob for it: `*`, `?`, `[a-z]`, `[^a-z]`, `\` escapes. */
  readonly pattern: string;
  readonly verbosity: number;
}

/**
 * Parses the value of `--vmodule`: `pattern=N,...`, empty items ignored. The syntax of a pattern is not checked: a
 * malformed one matches nothing. Throws INVALID_OPTION with component-base's own words (`logs/api/v1/pflags.go`).
 */
export function parseVmodule(text: string): readonly VmoduleRule[] {
  return text
    .split(",")
    .filter((item) => item !== "")
    .map((item) => {
      const [pattern, level, ...more] = item.split("=");
      if (!pattern || !level || more.length > 0) {
        throw new RegistrarError("INVALID_OPTION", `${quoteGo(item)} does not have the pattern=N format`);
      }
      return { pattern, verbosity: parseVerbosity(level, item) };
    });
}

function parseVerbosity(level: string, item: string): number {
  const refusal = (reason: string) =>
    new RegistrarError(
      "INVALID_OPTION",
      `parsing verbosity in ${quoteGo(item)}: strconv.ParseUint: parsing ${quoteGo(level)}: ${reason}`,
    );
  if (!/^[0-9]+$/.test(level)) throw refusal("invalid syntax");
  if (Number(level) > MAX_VERBOSITY) throw refusal("value out of range");
  return Number(level);
}

/**
 * The verbosity that the rules give to a file: that of the first rule that matches its whole name, 0 where none
 * does. Rules with N = 0 are left out before that, so `csi-driver=0,*=5` gives csi-driver 5: klog does the same, as
 * the rules can only add to `-v`. A pattern with a slash matches nothing, since folders are not part of the name.
 */
export function createFileVerbosity(rules: readonly VmoduleRule[]): (file: string) => number {
  const compiled = rules
    .filter(({ verbosity }) => verbosity > 0)
    .map(({ pattern, verbosity }) => ({ expression: compileGlob(pattern), verbosity }));
  return (file) => compiled.find(({ expression }) => expression?.test(file))?.verbosity ?? 0;
}
