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

// A member of a class such as `[a-z]`: anything but `]` and `-`, or any character after a backslash.
const MEMBER = String.raw`(?:\\.|[^\\\]-])`;
const RANGE = `(${MEMBER})(?:-(${MEMBER}))?`;
const GLOB_PIECE = new RegExp(
  [
    "(?<wildcard>[*?])",
    String.raw`\[(?:(?<negated>\^)|(?!\^))(?<ranges>(?:${RANGE})+)\]`,
    String.raw`(?<literal>\\.|[^\\[])`,
  ].join("|"),
  "gsuy",
);

/**
 * A glob as a regular expression for the whole text, by the rules of Go's `filepath.Match`: `*`, `?`, `[a-z]`,
 * `[^a-z]`, and `\` before a literal character. Undefined if it is malformed: then it matches nothing.
 */
export function compileGlob(pattern: string): RegExp | undefined {
  const pieces = [...pattern.matchAll(GLOB_PIECE)];
  if (pieces.map(([piece]) => piece).join("") !== pattern) return undefined;
  return new RegExp(`^${pieces.map(({ groups }) => pieceSource(groups)).join("")}$`, "su");
}

function pieceSource({
  wildcard,
  negated = "",
  ranges = "",
  literal,
}: RegExpMatchArray["groups"] = {}): string {
  if (wildcard !== undefined) return wildcard === "*" ? "[^/]*" : "[^/]";
  if (literal !== undefined) return codePointSource(literal);
  const sources = [...ranges.matchAll(new RegExp(RANGE, "gsu"))].map(([, from = "", to = from]) =>
    codePointOf(from) <= codePointOf(to) ? `${codePointSource(from)}-${codePointSource(to)}` : "",
  );
  return `[${negated}${sources.join("")}]`;
}

/** The one character that a piece stands for, without the backslash that may escape it. */
function codePointOf(piece: string): number {
  return piece.replace(/\\(?=.)/su, "").codePointAt(0) ?? 0;
}

function codePointSource(piece: string): string {
  return `\\u{${codePointOf(piece).toString(16)}}`;
}
