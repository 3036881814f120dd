import type { Parsed } from "../../src/cli/go-values";
import { parseQuantity, parseVerbosity, parseVmodule } from "../../src/cli/klog-values";

// Each case was tried on the official registrar v2.17: `-v=TEXT`, `-vmodule=TEXT`, `-log-text-info-buffer-size=TEXT`.
// Of what has no value here it says what stands beside it and exits with 2.
function outcomeOf<T>(parsed: Parsed<T>): T | string {
  return "value" in parsed ? parsed.value : parsed.error;
}

function refused(error: string, ...texts: string[]): [string, string][] {
  return texts.map((text) => [text, error]);
}

const verbosities: [text: string, outcome: number | string][] = [
  ["0", 0],
  ["5", 5],
  ["007", 7],
  ["2147483647", 2147483647],
  ["2147483648", 'strconv.ParseUint: parsing "2147483648": value out of range'],
  ["99999999999999999999", 'strconv.ParseUint: parsing "99999999999999999999": value out of range'],
  ...["", "-1", "+3", "x", "0x5", "1_0", " 5", "1.5", "5\n"].map((text): [string, string] => [
    text,
    `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  ]),
];

test.each(verbosities)("verbosity %j: %s", (text, outcome) => {
  expect(outcomeOf(parseVerbosity(text))).toBe(outcome);
});

const vmodules: [text: string, outcome: unknown][] = [
  ["", []],
  [",", []],
  ["a=1", [{ pattern: "a", verbosity: 1 }]],
  [
    ",a=1,,b*=2,",
    [
      { pattern: "a", verbosity: 1 },
      { pattern: "b*", verbosity: 2 },
    ],
  ],
  ["[=1", [{ pattern: "[", verbosity: 1 }]],
  [" a=1", [{ pattern: " a", verbosity: 1 }]],
  ["a", '"a" does not have the pattern=N format'],
  ["a=", '"a=" does not have the pattern=N format'],
  ["=1", '"=1" does not have the pattern=N format'],
  ["=", '"=" does not have the pattern=N format'],
  ["a=1=2", '"a=1=2" does not have the pattern=N format'],
  ['x=1,a"b', '"a\\"b" does not have the pattern=N format'],
  ["a=x,b", 'parsing verbosity in "a=x": strconv.ParseUint: parsing "x": invalid syntax'],
  ["a= 1", 'parsing verbosity in "a= 1": strconv.ParseUint: parsing " 1": invalid syntax'],
  ["a=-1", 'parsing verbosity in "a=-1": strconv.ParseUint: parsing "-1": invalid syntax'],
  [
    "a=2147483648",
    'parsing verbosity in "a=2147483648": strconv.ParseUint: parsing "2147483648": value out of range',
  ],
];

test.each(vmodules)("vmodule %j: %j", (text, outcome) => {
  expect(outcomeOf(parseVmodule(text))).toEqual(outcome);
});

const noQuantity =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

// The unit does not count: the flag has no effect, but for whether it is 0, which an official one asks.
const quantities: [text: string, outcome: number | string][] = [
  ...["0", "0Ki", "000", "-", ".", "e3"].map((text): [string, number] => [text, 0]),
  ...["1", "+1", "1k", "1Ki", "1E", "1e3", "1E+3", "1m"].map((text): [string, number] => [text, 1]),
  ["-1", -1],
  ["1.5Mi", 1.5],
  ...refused(noQuantity, "1K", "1e", "1ki", "1Ee", "1-5", "1kk", "1ke3", "--1", "1e99999999999999999999"),
  ...refused(noQuantity, "", "x", "1x", "1..2", "1 ", "1KiB", "KI", "1e3.5"),
];

test.each(quantities)("quantity %j: %s", (text, outcome) => {
  expect(outcomeOf(parseQuantity(text))).toBe(outcome);
});
