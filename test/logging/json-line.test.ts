import { createJsonLine, klogJson } from "../../src/logging/json-line";
import type { LogRecord } from "../../src/logging/logger";
import { recordOf } from "../support/recorded-log";

const error = new Error("boom");
const head = '{"caller":"csi-driver.ts:12","msg":"Msg"';

// Outcomes of component-base v0.36.1 for the same call, its `ts` and the folder of `caller` cut off. It has no warnings, and
// writes keys that are its own twice; most readers then keep the field and lose the message.
test.each<[string, Partial<LogRecord>, string]>([
  ["info", {}, ',"v":0}'],
  ["info of verbosity 1", { verbosity: 1, fields: { key: "value" } }, ',"v":1,"key":"value"}'],
  ["numbers and booleans", { fields: { a: 1, b: -1.5, c: true } }, ',"v":0,"a":1,"b":-1.5,"c":true}'],
  ["nil", { fields: { a: null, b: undefined } }, ',"v":0,"a":null,"b":null}'],
  ["error as a field", { fields: { cause: error, n: 1 } }, ',"v":0,"cause":"boom","n":1}'],
  ["nested", { fields: { key: { l: ["<&>\n"], e: error } } }, ',"v":0,"key":{"l":["<&>\\n"],"e":{}}}'],
  ["error", { severity: "error", error, fields: { key: "v" } }, ',"key":"v","err":"boom"}'],
  ["error nil", { severity: "error", fields: { key: "v" } }, ',"key":"v"}'],
  ["a warning", { severity: "warning", fields: { err: error } }, ',"v":0,"severity":"warning","err":"boom"}'],
  ["keys of its own", { fields: { msg: "x", v: 7, caller: "c", k: 1 } }, ',"v":0,"k":1}'],
  ["another err", { severity: "error", error, fields: { err: "other" } }, ',"err":"boom"}'],
])("%s", (_, change, shape) => {
  expect(JSON.stringify(klogJson(recordOf(change)))).toBe(head + shape);
});

test("a JSON line begins with its time, ends with a line feed, and has no control character", () => {
  const lineOf = createJsonLine();
  expect(lineOf(recordOf({ fields: { text: "\x9b" } }), 1)).toBe(
    `{"ts":1,${head.slice(1)},"v":0,"text":"\\u009b"}\n`,
  );
  expect(lineOf(recordOf({}), 2)).toBe(`{"ts":2,${head.slice(1)},"v":0}\n`);
});
