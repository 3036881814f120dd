/** One `pattern=N` of `--vmodule`. */
export interface VmoduleRule {
  /** A file name without directory and extension; `*` and `?` as in a shell. */
  readonly pattern: string;
  readonly verbosity: number;
}

/**
 * The verbosity of a file: that of the first rule that matches its whole name, else 0. Rules with N = 0 do not count, so
 * `csi-driver=0,*=5` gives csi-driver 5, as in klog. Unlike klog it knows no classes such as `[a-z]`.
 */
export function createFileVerbosity(rules: readonly VmoduleRule[]): (file: string) => number {
  const compiled = rules
    .filter(({ verbosity }) => verbosity > 0)
    .map(({ pattern, verbosity }) => ({ expression: compileGlob(pattern), verbosity }));
  return (file) => compiled.find(({ expression }) => expression.test(file))?.verbosity ?? 0;
}

function compileGlob(pattern: string): RegExp {
  const source = Array.from(pattern, (character) =>
    character === "*" ? ".*" : character === "?" ? "." : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return new RegExp(`^${source.join("")}$`, "su");
}
