/** One `pattern=N` of `--vmodule`. */
export interface VmoduleRule {
  /** A file name without folder and extension; `*` stands for any characters, `?` for one. */
  readonly pattern: string;
  readonly verbosity: number;
}

/**
 * The verbosity that the rules give to a file: that of the first rule that matches its whole name, 0 where none
 * does. Rules with N = 0 are left out before that, so `csi-driver=0,*=5` gives csi-driver 5: klog does the same, as
 * the rules can only add to `-v`. Unlike klog it knows no classes such as `[a-z]`.
 */
export function createFileVerbosity(rules: readonly VmoduleRule[]): (file: string) => number {
  const compiled = rules
    .filter(({ verbosity }) => verbosity > 0)
    .map(({ pattern, verbosity }) => ({ expression: compileGlob(pattern), verbosity }));
  return (file) => compiled.find(({ expression }) => expression.test(file))?.verbosity ?? 0;
}

/** The whole text, with `*` for any characters and `?` for any one. */
function compileGlob(pattern: string): RegExp {
  const source = Array.from(pattern, (character) =>
    character === "*" ? ".*" : character === "?" ? "." : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return new RegExp(`^${source.join("")}$`, "su");
}
