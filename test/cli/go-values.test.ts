import { type Parsed, parseBool, parseDurationMs, parseInt64 } from "../../src/cli/go-values";

// Each case was tried on the official registrar v2.17: `-version=TEXT`, `-health-port=TEXT`, `-timeout=TEXT`. It
// accepts what has a value here; of the others it says what stands beside them and exits with 2.
const bad = "parse error";
const range = "value out of range";

function outcomeOf<T>(parsed: Parsed<T>): T | string {
  return "value" in parsed ? parsed.value : parsed.error;
}

function refused(error: string, ...texts: string[]): [string, string][] {
  return texts.map((text) => [text, error]);
}

const bools: [text: string, outcome: boolean | string][] = [
  ...["1", "t", "T", "TRUE", "true", "True"].map((text): [string, true] => [text, true]),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text): [string, false] => [text, false]),
  ...refused(bad, "", "tRUE", "yes", "no", "on", "2", "10", "00", "falsely", "true ", " 1", "true\n", "-1"),
];

test.each(bools)("boolean %j: %s", (text, outcome) => {
  expect(outcomeOf(parseBool(text))).toBe(outcome);
});

const ints: [text: string, outcome: number | string][] = [
  ["0", 0],
  ["00", 0],
  ["9809", 9809],
  ["-1", -1],
  ["+5", 5],
  ["-0", 0],
  ["1_000", 1000],
  ["0x1F", 31],
  ["0X1f", 31],
  ["0x_1F", 31],
  ["-0x1f", -31],
  ["017", 15],
  ["0_17", 15],
  ["0o17", 15],
  ["0O17", 15],
  ["0b101", 5],
  ["0B1", 1],
  ["9223372036854775807", 2 ** 63],
  ["-9223372036854775808", -(2 ** 63)],
  ["-0x8000000000000000", -(2 ** 63)],
  ...refused(range, "9223372036854775808", "-9223372036854775809", "0x8000000000000000"),
  ...refused(bad, "", "-", "+", "+-1", " 1", "1 ", "x", "1.0", "1e3", "08", "0_8", "0b2", "0o8", "0x", "0b"),
  ...refused(bad, "0xg", "_1", "1_", "1__0", "0_", "0x1__F", "-_1", "1n", "Infinity", "1\n", "٣"),
];

test.each(ints)("integer %j: %s", (text, outcome) => {
  expect(outcomeOf(parseInt64(text))).toBe(outcome);
});

const durations: [text: string, outcome: number | string][] = [
  ["0", 0],
  ["+0", 0],
  ["-0", 0],
  ["0s", 0],
  ["-0s", 0],
  ["1s", 1000],
  ["5s", 5000],
  ["+5s", 5000],
  ["-1s", -1000],
  ["500ms", 500],
  ["500us", 0.5],
  ["1\u00b5s", 0.001],
  ["1\u03bcs", 0.001],
  ["1ns", 1e-6],
  ["1m30s", 90_000],
  ["1h1m1s1ms1us1ns", 3_661_001.001001],
  ["1s1h1s", 3_602_000],
  ["1h1h", 7_200_000],
  ["1.5h", 5_400_000],
  ["-1.5h", -5_400_000],
  [".5s", 500],
  ["-.5s", -500],
  ["1.s", 1000],
  ["1.000000000s", 1000],
  ["0.1ns", 0],
  ["0.9999999999s", 999.999999],
  [`0.${"9".repeat(400)}s`, 1000],
  ["0.333333333333333333333333333333h", 1_200_000],
  ["01.50s", 1500],
  ["100000h", 360_000_000_000],
  ["2562047h47m16.854775807s", 2 ** 63 / 1e6],
  ["-2562047h47m16.854775808s", -(2 ** 63) / 1e6],
  ...refused(bad, "2562047h47m16.854775808s", "-2562047h47m16.854775809s", "9999999999h"),
  ...refused(bad, "", "+", "-", "5", "00", "1m30", "1", ".s", "s", ".", "1..5s", "1.5.5s", "-+1s", "1s-1s"),
  ...refused(
    bad,
    "1d",
    "1S",
    "1sec",
    "1 s",
    " 1s",
    "1s ",
    "1s\n",
    "1e3s",
    "0x1s",
    "1_0s",
    "1mss",
    "Infinity",
  ),
  ...refused(bad, "1constructor", "9223372036854775808ns"),
];

test.each(durations)("duration %j: %s", (text, outcome) => {
  expect(outcomeOf(parseDurationMs(text))).toBe(outcome);
});
