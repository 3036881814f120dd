import { messageOf } from "../../src/base/errors";
import {
  parseBool,
  parseDurationMs,
  parseInt64,
  parseQuantity,
  parseVerbosity,
  parseVmodule,
} from "../../src/flags/values";

// Each case was tried on the official registrar v2.17: `-version=TEXT`, `-health-port=TEXT`, `-timeout=TEXT`, `-v=TEXT`,
// `-vmodule=TEXT`, `-log-text-info-buffer-size=TEXT`. It accepts what has a value here; of the others it says what stands
// beside them and exits with 2.
const bad = "parse error";
const range = "value out of range";

function outcomeOf<Value>(parse: (text: string) => Value, text: string): Value | string {
  try {
    return parse(text);
  } catch (error) {
    return messageOf(error);
  }
}

const all = <Outcome>(outcome: Outcome, ...texts: readonly string[]) =>
  texts.map((text) => [text, outcome] as const);

test.each<readonly [text: string, outcome: boolean | string]>([
  ...all(true, "1", "t", "T", "TRUE", "true", "True"),
  ...all(false, "0", "f", "F", "FALSE", "false", "False"),
  ...all(bad, "", "tRUE", "yes", "no", "on", "2", "10", "00", "falsely", "true ", " 1", "true\n", "-1"),
])("boolean %j: %s", (text, outcome) => {
  expect(outcomeOf(parseBool, text)).toBe(outcome);
});

test.each<readonly [text: string, outcome: number | string]>([
  ...all(0, "0", "00", "-0"),
  ...all(1, "0B1"),
  ...all(-1, "-1"),
  ...all(5, "+5", "0b101"),
  ...all(15, "017", "0_17", "0o17", "0O17"),
  ...all(31, "0x1F", "0X1f", "0x_1F"),
  ...all(-31, "-0x1f"),
  ...all(1000, "1_000"),
  ...all(9809, "9809"),
  ...all(2 ** 63, "9223372036854775807"),
  ...all(-(2 ** 63), "-9223372036854775808", "-0x8000000000000000"),
  ...all(range, "9223372036854775808", "-9223372036854775809", "0x8000000000000000"),
  ...all(bad, "", "-", "+", "+-1", " 1", "1 ", "x", "1.0", "1e3", "08", "0_8", "0b2", "0o8", "0x", "0b"),
  ...all(bad, "0xg", "_1", "1_", "1__0", "0_", "0x1__F", "-_1", "1n", "Infinity", "1\n", "٣"),
])("integer %j: %s", (text, outcome) => {
  expect(outcomeOf(parseInt64, text)).toBe(outcome);
});

test.each<readonly [text: string, outcome: number | string]>([
  ...all(0, "0", "+0", "-0", "0s", "-0s", "0.1ns"),
  ...all(1e-6, "1ns"),
  ...all(0.001, "1\u00b5s", "1\u03bcs"),
  ...all(0.5, "500us"),
  ...all(500, "500ms", ".5s"),
  ...all(-500, "-.5s"),
  ...all(1000, "1s", "1.s", "1.000000000s", `0.${"9".repeat(400)}s`),
  ...all(-1000, "-1s"),
  ...all(999.999999, "0.9999999999s"),
  ...all(1500, "01.50s"),
  ...all(5000, "5s", "+5s"),
  ...all(90_000, "1m30s"),
  ...all(1_200_000, "0.333333333333333333333333333333h"),
  ...all(3_602_000, "1s1h1s"),
  ...all(3_661_001.001001, "1h1m1s1ms1us1ns"),
  ...all(5_400_000, "1.5h"),
  ...all(-5_400_000, "-1.5h"),
  ...all(7_200_000, "1h1h"),
  ...all(360_000_000_000, "100000h"),
  ...all(2 ** 63 / 1e6, "2562047h47m16.854775807s"),
  ...all(-(2 ** 63) / 1e6, "-2562047h47m16.854775808s"),
  ...all(bad, "2562047h47m16.854775808s", "-2562047h47m16.854775809s", "9999999999h"),
  ...all(bad, "", "+", "-", "5", "00", "1m30", "1", ".s", "s", ".", "1..5s", "1.5.5s", "-+1s", "1s-1s"),
  ...all(bad, "1d", "1S", "1sec", "1 s", " 1s", "1s ", "1s\n", "1e3s", "0x1s", "1_0s", "1mss", "Infinity"),
  ...all(bad, "1constructor", "9223372036854775808ns"),
])("duration %j: %s", (text, outcome) => {
  expect(outcomeOf(parseDurationMs, text)).toBe(outcome);
});

const noUint = (text: string, why = "invalid syntax") =>
  `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`;

test.each<readonly [text: string, outcome: number | string]>([
  ["0", 0],
  ["5", 5],
  ["007", 7],
  ["2147483647", 2147483647],
  ...["2147483648", "99999999999999999999"].map((text) => [text, noUint(text, range)] as const),
  ...["", "-1", "+3", "x", "0x5", "1_0", " 5", "1.5", "5\n"].map((text) => [text, noUint(text)] as const),
])("verbosity %j: %s", (text, outcome) => {
  expect(outcomeOf(parseVerbosity, text)).toBe(outcome);
});

const noPattern = (item: string) => `${JSON.stringify(item)} does not have the pattern=N format`;
const rule = (pattern: string, verbosity: number) => ({ pattern, verbosity });

test.each<readonly [text: string, outcome: unknown]>([
  ...all([], "", ","),
  ["a=1", [rule("a", 1)]],
  [",a=1,,b*=2,", [rule("a", 1), rule("b*", 2)]],
  ["[=1", [rule("[", 1)]],
  [" a=1", [rule(" a", 1)]],
  ...["a", "a=", "=1", "=", "a=1=2"].map((text) => [text, noPattern(text)] as const),
  ['x=1,a"b', noPattern('a"b')],
  ["a=x,b", `parsing verbosity in "a=x": ${noUint("x")}`],
  ["a= 1", `parsing verbosity in "a= 1": ${noUint(" 1")}`],
  ["a=-1", `parsing verbosity in "a=-1": ${noUint("-1")}`],
  ["a=2147483648", `parsing verbosity in "a=2147483648": ${noUint("2147483648", range)}`],
])("vmodule %j: %j", (text, outcome) => {
  expect(outcomeOf(parseVmodule, text)).toEqual(outcome);
});

const noQuantity =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

// The unit does not count: the flag has no effect, but for whether it is 0, which an official one asks.
test.each<readonly [text: string, outcome: number | string]>([
  ...all(0, "0", "0Ki", "000", "-", ".", "e3"),
  ...all(1, "1", "+1", "1k", "1Ki", "1E", "1e3", "1E+3", "1m", "1e18"),
  ...all(-1, "-1"),
  ...all(1.5, "1.5Mi"),
  ...all(noQuantity, "1K", "1e", "1ki", "1Ee", "1-5", "1kk", "1ke3", "--1", "1e99999999999999999999"),
  ...all(noQuantity, "", "x", "1x", "1..2", "1 ", "1KiB", "KI", "1e3.5"),
])("quantity %j: %s", (text, outcome) => {
  expect(outcomeOf(parseQuantity, text)).toBe(outcome);
});
