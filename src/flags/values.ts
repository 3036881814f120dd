import { messageOf, refuse } from "../base/errors";
import { quoteGo } from "../logging/escape";
import type { VmoduleRule } from "../logging/logging-options";

// Each function returns the value of a text, or throws INVALID_OPTION with Go's error for it.

/** Go's package flag gives no more detail for a value that it cannot parse. */
const refuseSyntax = () => refuse("parse error");

/** strconv.ParseBool: `1 t T TRUE true True` and their opposites, nothing else. */
export function parseBool(text: string): boolean {
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(text) ? false : refuseSyntax();
}

// Underscores may stand between digits and after a base prefix; a leading zero alone means octal.
const intLiteral =
  /^([+-]?)(0|[1-9](?:_?[0-9])*|0[oO]?(?:_?[0-7])+|0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+)$/;

/** strconv.ParseInt with base 0 and 64 bits: Go's integer literals. Beyond 2^53 the last digits are lost. */
export function parseInt64(text: string): number {
  const [, sign, literal] = intLiteral.exec(text) ?? [];
  if (literal === undefined) return refuseSyntax();
  const value = signed(sign, BigInt(literal.replaceAll("_", "").replace(/^0(?=[0-7])/, "0o")));
  return value === undefined ? refuse("value out of range") : Number(value);
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
export function parseDurationMs(text: string): number {
  const sign = text.startsWith("-") || text.startsWith("+") ? text.charAt(0) : "";
  const amount = text.slice(sign.length);
  if (amount === "0") return 0;
  let nanoseconds = 0n;
  let rest = amount;
  do {
    const [part = "", whole = "", fraction = "", unit = ""] = durationPart.exec(rest) ?? [];
    const factor = nanosecondsPer.get(unit);
    if (factor === undefined || whole + fraction === "") return refuseSyntax();
    nanoseconds += BigInt(whole) * BigInt(factor) + fractionOf(factor, fraction);
    rest = rest.slice(part.length);
  } while (rest !== "");
  const value = signed(sign, nanoseconds);
  return value === undefined ? refuseSyntax() : Number(value) / 1e6;
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

/** `-v` as component-base reads it (`logs/api/v1/pflags.go`): decimal digits, at most 2^31 - 1. */
export function parseVerbosity(text: string): number {
  const fail = (why: string) => refuse(`strconv.ParseUint: parsing ${quoteGo(text)}: ${why}`);
  if (!/^[0-9]+$/.test(text)) return fail("invalid syntax");
  return Number(text) < 2 ** 31 ? Number(text) : fail("value out of range");
}

/** `-vmodule`, from the same file: `pattern=N,...`, empty items skipped, patterns unchecked. */
export function parseVmodule(text: string): readonly VmoduleRule[] {
  return text
    .split(",")
    .filter((item) => item !== "")
    .map((item) => {
      const [, pattern = "", level] = /^([^=]+)=([^=]+)$/.exec(item) ?? [];
      if (level === undefined) return refuse(`${quoteGo(item)} does not have the pattern=N format`);
      try {
        return { pattern, verbosity: parseVerbosity(level) };
      } catch (error) {
        return refuse(`parsing verbosity in ${quoteGo(item)}: ${messageOf(error)}`);
      }
    });
}

const quantityPattern = /^([+-]?[0-9]*\.?[0-9]*)(?:[numkMGTPE]|[KMGTPE]i|[eE][-+]?[0-9]{1,18})?$/;

/** The number of a resource quantity of Kubernetes (`512`, `1Ki`, `2M`, `1e3`), without its unit: the flag has no effect. */
export function parseQuantity(text: string): number {
  const [, amount] = quantityPattern.exec(text) ?? [];
  // A number without digits ("-", ".") is zero, as in apimachinery.
  if (text !== "" && amount !== undefined) return Number.parseFloat(amount) || 0;
  return refuse(
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  );
}
