import { MAX_VALUE_LENGTH } from "../../src/logging/escape";
import { createJsonLine, klogJson } from "../../src/logging/json-line";
import type { LogRecord } from "../../src/logging/logger";
import { recordOf } from "../support/log-record";

const shapeOf = (change: Partial<LogRecord>) => JSON.stringify(klogJson(recordOf(change)));

const boom = new Error("boom");
const head = '{"caller":"csi-driver.ts:12","msg":"Msg"';

// Outcomes of component-base v0.36.1 for the same call, its `ts` and the folder of `caller` cut off.
test.each<[string, Partial<LogRecord>, string]>([
  ["info", {}, `${head},"v":0}`],
  ["info of verbosity 1", { verbosity: 1, fields: { key: "value" } }, `${head},"v":1,"key":"value"}`],
  ["numbers and booleans", { fields: { a: 1, b: -1.5, c: true } }, `${head},"v":0,"a":1,"b":-1.5,"c":true}`],
  ["nil", { fields: { a: null, b: undefined } }, `${head},"v":0,"a":null,"b":null}`],
  ["error as a field", { fields: { cause: boom, n: 1 } }, `${head},"v":0,"cause":"boom","n":1}`],
  ["nested", { fields: { key: { l: ["<&>\n"], e: boom } } }, `${head},"v":0,"key":{"l":["<&>\\n"],"e":{}}}`],
  ["error", { severity: "error", error: boom, fields: { key: "v" } }, `${head},"key":"v","err":"boom"}`],
  ["error nil", { severity: "error", fields: { key: "v" } }, `${head},"key":"v"}`],
])("%s has component-base's shape", (_, change, shape) => {
  expect(shapeOf(change)).toBe(shape);
});

test("a warning is an info line that says so", () => {
  expect(shapeOf({ severity: "warning", fields: { key: "v" } })).toBe(
    `${head},"v":0,"severity":"warning","key":"v"}`,
  );
});

// component-base writes such keys twice; most readers then keep the field and lose the message.
test.each<[string, Partial<LogRecord>, string]>([
  ["msg, v, caller", { fields: { msg: "x", v: 7, caller: "c", k: 1 } }, `${head},"v":0,"k":1}`],
  ["err", { severity: "error", error: boom, fields: { err: "other" } }, `${head},"err":"boom"}`],
])("a field can not replace %s", (_, change, shape) => {
  expect(shapeOf(change)).toBe(shape);
});

test("a field err stands where there is no error", () => {
  expect(shapeOf({ severity: "warning", fields: { err: boom } })).toBe(
    `${head},"v":0,"severity":"warning","err":"boom"}`,
  );
});

test("a line begins with its time, ends with a line feed, and steers no terminal", () => {
  const lineOf = createJsonLine();
  expect(lineOf(recordOf({ fields: { text: "\x9b" } }), 1.5)).toBe(
    `{"ts":1.5,${head.slice(1)},"v":0,"text":"\\u009b"}\n`,
  );
  expect(lineOf(recordOf({}), 2)).toBe(`{"ts":2,${head.slice(1)},"v":0}\n`);
});

test("a long text is cut", () => {
  const line = shapeOf({ fields: { text: "x".repeat(MAX_VALUE_LENGTH + 1) } });
  expect(line).toContain(`x [cut, ${MAX_VALUE_LENGTH + 1} characters in all]`);
});
