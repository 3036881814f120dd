import { createTextLine, klogMessage } from "../../src/logging/klog-text";
import type { LogFields, LogRecord } from "../../src/logging/logger";
import { recordOf } from "../support/log-record";

const jan2 = new Date(2024, 0, 2, 15, 4, 5).getTime();
const dec31 = new Date(2024, 11, 31, 0, 0, 0).getTime();

test.each<[Partial<LogRecord>, number, number, string]>([
  [{}, jan2, 1, 'I0102 15:04:05.000000       1 csi-driver.ts:12] "Msg"'],
  [{ severity: "warning" }, jan2 + 7, 4194304, 'W0102 15:04:05.007000 4194304 csi-driver.ts:12] "Msg"'],
  [{ severity: "error" }, jan2 + 999.25, 99, 'E0102 15:04:05.999250      99 csi-driver.ts:12] "Msg"'],
  [{ file: "main", line: 0 }, dec31, 1, 'I1231 00:00:00.000000       1 main.ts:0] "Msg"'],
])("header of %j", (change, timeMs, pid, line) => {
  expect(createTextLine(pid)(recordOf(change), timeMs)).toBe(`${line}\n`);
});

// Outcomes of klog v2.140 for the same call, its header cut off.
test.each<[string, LogFields, string]>([
  ["string", { key: "value" }, '"Msg" key="value"'],
  ["empty string", { key: "" }, '"Msg" key=""'],
  ["numbers", { a: 1, b: -2, c: 1.5, d: 1e21, e: 1e-7 }, '"Msg" a=1 b=-2 c=1.5 d=1e+21 e=1e-7'],
  ["booleans", { a: true, b: false }, '"Msg" a=true b=false'],
  ["nil", { a: null, b: undefined }, '"Msg" a=null b=null'],
  ["an error", { cause: new Error("no such file"), n: 1 }, '"Msg" cause="no such file" n=1'],
  ["terminal escapes", { key: "\x1b[2J" }, String.raw`"Msg" key="\x1b[2J"`],
  ["list", { key: ["1.0.0", "a b"], empty: [] }, '"Msg" key=["1.0.0","a b"] empty=[]'],
  ["map", { key: { a: "x", e: new Error("x"), nil: null } }, '"Msg" key={"a":"x","e":{},"nil":null}'],
  [
    "structure",
    { key: { name: "n", in: { l: ['b\n"<&>\u2028'] } } },
    String.raw`"Msg" key={"name":"n","in":{"l":["b\n\"\u003c\u0026\u003e\u2028"]}}`,
  ],
  ["keys that are facts of the line elsewhere", { msg: "x", v: 7, ts: 1 }, '"Msg" msg="x" v=7 ts=1'],
])("%s is shown as klog does", (_, fields, text) => {
  expect(klogMessage(recordOf({ fields }))).toBe(text);
});

// The same for Error(); klog puts err first, and a field of that name replaces it.
test.each<[string, Partial<LogRecord>, string]>([
  ["with fields", { error: new Error("boom"), fields: { key: "v" } }, '"Msg" err="boom" key="v"'],
  ["nil", { error: undefined, fields: { key: "v" } }, '"Msg" key="v"'],
  ["not an Error", { error: "boom" }, '"Msg" err="boom"'],
  ["and a field err", { error: new Error("boom"), fields: { err: "other" } }, '"Msg" err="other"'],
])("error %s", (_, change, text) => {
  expect(klogMessage(recordOf({ severity: "error", ...change }))).toBe(text);
});

const cycle: { self?: object } = {};
cycle.self = cycle;

// klog would spread these over lines or print the key raw; Go has no cycles or such encoders to show.
test.each<[string, Partial<LogRecord>, string]>([
  ["message", { message: 'a "b"\nI0102' }, String.raw`"a \"b\"\nI0102"`],
  ["string", { fields: { key: "one\ntwo" } }, String.raw`"Msg" key="one\ntwo"`],
  ["error", { error: new Error("one\ntwo") }, String.raw`"Msg" err="one\ntwo"`],
  ["key", { fields: { "key\nI0102": 1 } }, String.raw`"Msg" key\nI0102=1`],
  ["DEL and C1 in a structure", { fields: { key: ["\x7f\x85"] } }, String.raw`"Msg" key=["\u007f\u0085"]`],
])("one event stays one line: %s", (_, change, text) => {
  expect(klogMessage(recordOf(change))).toBe(text);
});

test.each<[string, unknown, string]>([
  ["a bigint", 2n ** 64n, "18446744073709551616"],
  ["not a number", Number.NaN, "NaN"],
  ["a function", () => {}, "null"],
  ["a nested bigint", { n: 1n }, '"<internal error: Do not know how to serialize a BigInt>"'],
  ["a cycle", cycle, expect.stringMatching(/^"<internal error: Converting circular.*\\n.*>"$/)],
  ["a throwing toJSON", { toJSON: () => JSON.parse("") }, expect.stringMatching(/^"<internal error: .*>"$/)],
])("%s never throws", (_, key, text) => {
  expect(klogMessage(recordOf({ fields: { key } })).replace('"Msg" key=', "")).toEqual(text);
});
