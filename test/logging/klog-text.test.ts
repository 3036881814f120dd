import { createTextLine, klogMessage } from "../../src/logging/klog-text";
import type { LogFields, LogRecord } from "../../src/logging/logger";
import { recordOf } from "../support/recorded-log";

const jan2 = new Date(2024, 0, 2, 15, 4, 5).getTime();
const dec31 = new Date(2024, 11, 31, 0, 0, 0).getTime();

test.each<[Partial<LogRecord>, number, number, string]>([
  [{}, jan2, 1, 'I0102 15:04:05.000000       1 csi-driver.ts:12] "Msg"'],
  [{ severity: "warning" }, jan2 + 7.25, 4194304, 'W0102 15:04:05.007250 4194304 csi-driver.ts:12] "Msg"'],
  [{ severity: "error" }, jan2 + 999, 99, 'E0102 15:04:05.999000      99 csi-driver.ts:12] "Msg"'],
  [{ file: "main", line: 0 }, dec31, 1, 'I1231 00:00:00.000000       1 main.ts:0] "Msg"'],
])("header of %j", (change, timeMs, pid, line) => {
  expect(createTextLine(pid)(recordOf(change), timeMs)).toBe(`${line}\n`);
});

test("the time is local", () => {
  jest.spyOn(Date.prototype, "getTimezoneOffset").mockReturnValue(-330);
  expect(createTextLine(1)(recordOf({}), 1_700_000_000_000)).toMatch(/^I1115 03:43:20\.000000 /);
});

const cycle: { self?: object } = {};
cycle.self = cycle;
const throwing = { toJSON: () => JSON.parse("") };
const STRUCTURE = String.raw`key={"name":"n","in":{"l":["b\n\"\u003c\u0026\u003e\u2028"]},"e":{},"nil":null}`;
const structure = { name: "n", in: { l: ['b\n"<&>\u2028'] }, e: new Error("x"), nil: null };

// Outcomes of klog v2.140 for the same call, its header cut off; of the last ones, Go has nothing to show.
test.each<[string, LogFields, unknown]>([
  ["strings", { key: "value", b: "" }, 'key="value" b=""'],
  ["numbers", { a: 1, b: -2, c: 1.5, d: 1e21, e: 1e-7 }, "a=1 b=-2 c=1.5 d=1e+21 e=1e-7"],
  ["booleans", { a: true, b: false }, "a=true b=false"],
  ["nil", { a: null, b: undefined }, "a=null b=null"],
  ["an error", { cause: new Error("no such file"), n: 1 }, 'cause="no such file" n=1'],
  ["terminal escapes", { key: "\x1b[2J" }, String.raw`key="\x1b[2J"`],
  ["list", { key: ["1.0.0", "a b"], empty: [] }, 'key=["1.0.0","a b"] empty=[]'],
  ["structure", { key: structure }, STRUCTURE],
  ["keys that are facts of the line elsewhere", { msg: "x", v: 7, ts: 1 }, 'msg="x" v=7 ts=1'],
  ["key with a line feed", { "key\nI0102": 1 }, String.raw`key\nI0102=1`],
  ["DEL and C1 in a structure", { key: ["\x7f\x85"] }, String.raw`key=["\u007f\u0085"]`],
  ["a bigint", { key: 2n ** 64n }, "key=18446744073709551616"],
  ["a function", { key: () => {}, nan: Number.NaN }, "key=null nan=NaN"],
  ["a cycle", { key: cycle }, expect.stringMatching(/^key="<internal error: Converting circular.*\\n.*>"$/)],
  ["a throwing toJSON", { key: throwing }, expect.stringMatching(/internal error: .*>"$/)],
])("%s is written as klog writes it", (_, fields, text) => {
  expect(klogMessage(recordOf({ fields })).replace('"Msg" ', "")).toEqual(text);
});

// The same for Error(); klog puts err first, and a field of that name replaces it.
test.each<[string, Partial<LogRecord>, string]>([
  ["with fields", { error: new Error("boom"), fields: { key: "v" } }, '"Msg" err="boom" key="v"'],
  ["nil", { error: undefined, fields: { key: "v" } }, '"Msg" key="v"'],
  ["not an Error", { error: "boom" }, '"Msg" err="boom"'],
  ["and a field err", { error: new Error("boom"), fields: { err: "other" } }, '"Msg" err="other"'],
  ["and a message of several lines", { message: 'a "b"\nI0102' }, String.raw`"a \"b\"\nI0102"`],
])("error %s", (_, change, text) => {
  expect(klogMessage(recordOf({ severity: "error", ...change }))).toBe(text);
});
