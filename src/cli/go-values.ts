/** One value's text as a value, or Go's error for it. */
export type Parsed<T> = { readonly value: T } | { readonly error: string };

// Go's package flag gives no more detail for a value that it cannot parse.
const syntaxError = { error: "parse error" } as const;
const rangeError = { error: "value out of range" } as const;

/** strconv.ParseBool: `1 t T TRUE true True` and their opposites, nothing else. */
export function parseBool(text: string): Parsed<boolean> {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return { value: true };
  if (/^(0|f|F|FALSE|false|False)$/.test(text)) return { value: false };
  return syntaxError;
}

// Underscores may stand between digits and after a base prefix; a leading zero alone means octal.
const intLiteral =
  /^([+-]?)(0|[1-9](?:_?[0-9])*|0[oO]?(?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+)$/;

/** strconv.ParseInt with base 0 and 64 bits: Go's integer literals. Beyond 2^53 the last digits are lost. */
export function parseInt64(text: string): Parsed<number> {
  const [, sign, literal] = intLiteral.exec(text) ?? [];
  if (literal === undefined) return syntaxError;
  const value = signed(sign, BigInt(literal.replaceAll("_", "").replace(/^0(?=[0-7])/, "0o")));
  return value === undefined ? rangeError : { value: Number(value) };
}

const nanosecondsPer = new Map([
  ["ns", 1],
  ["us", 1e3],
  ["\u00b5s", 1e3], // micro sign
  ["\u03bcs", 1e3], // Greek letter mu
  ["ms", 1e6],
  ["s", 1e9],
  ["m", 60e9],
  ["h", 3600e9],
]);
const durationPart = /^([0-9]*)(?:\.([0-9]*))?([a-z\u00b5\u03bc]+)/;

/** time.ParseDuration (`1m30s`, `-1.5h`, `500us`, `0`) in milliseconds and their fraction; bounds are int64 nanoseconds. */
export function parseDurationMs(text: string): Parsed<number> {
  const sign = text.startsWith("-") || text.startsWith("+") ? text.charAt(0) : "";
  const amount = text.slice(sign.length);
  if (amount === "0") return { value: 0 };
  let nanoseconds = 0n;
  let rest = amount;
  do {
    const [part = "", whole = "", fraction = "", unit = ""] = durationPart.exec(rest) ?? [];
    const factor = nanosecondsPer.get(unit);
    if (factor === undefined || whole + fraction === "") return syntaxError;
    nanoseconds += BigInt(whole) * BigInt(factor) + fractionOf(factor, fraction);
    rest = rest.slice(part.length);
  } while (rest !== "");
  const value = signed(sign, nanoseconds);
  return value === undefined ? syntaxError : { value: Number(value) / 1e6 };
}

/** `0.fraction` times `factor`, rounded down. No unit is so large that a digit after the 19th would count. */
function fractionOf(factor: number, fraction: string): bigint {
  const digits = fraction.slice(0, 19);
  return BigInt(Math.trunc(Number(digits) * (factor / 10 ** digits.length)));
}

/** The magnitude with its sign; undefined if that is no int64. */
function signed(sign: string | undefined, magnitude: bigint): bigint | undefined {
  const value = sign === "-" ? -magnitude : magnitude;
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
