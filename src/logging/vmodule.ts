import { compileGlob } from "./glob";

/** One `pattern=N` of `--vmodule`. */
export interface VmoduleRule {
  /** A file name without folder and extension, or a glob for it: `*`, `?`, `[a-z]`, `[^a-z]`, `\` escapes. */
  readonly pattern: string;
  readonly verbosity: number;
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
