import fc from "fast-check";
import { boundText, MAX_VALUE_LENGTH } from "../../src/logging/escape";
import { createJsonLine } from "../../src/logging/json-line";
import { createKlogSink } from "../../src/logging/klog-sink";
import { createTextLine } from "../../src/logging/klog-text";
import { createLogger } from "../../src/logging/logger";
import { parseLogLine } from "../end-to-end/support/log-line";
import { NASTY_TEXTS, UNPRINTABLE } from "../support/nasty-texts";

/** The one line that is written for a text that a peer said, as a value and as an error. */
function lineOf(format: "text" | "json", text: string): string {
  const written: string[] = [];
  const writeLine = (line: string) => written.push(line);
  const lineOf = format === "json" ? createJsonLine() : createTextLine(1);
  const sink = createKlogSink({ lineOf, verbosity: 0, vmodule: [], writeLine, writeInfo: writeLine });
  createLogger(sink).error(new Error(text), "Msg", { value: text, after: 1 });
  expect(written).toHaveLength(1);
  const [line = ""] = written;
  expect(line.endsWith("\n")).toBe(true);
  expect(line.slice(0, -1)).not.toMatch(UNPRINTABLE);
  return line.slice(0, -1);
}

function valuesIn(format: "text" | "json", line: string): unknown {
  const { value, err, after } = format === "text" ? (parseLogLine(line)?.fields ?? {}) : JSON.parse(line);
  return { value, err, after: String(after) };
}

const expectReadBack = (format: "text" | "json", text: string) => {
  const kept = boundText(text);
  expect(valuesIn(format, lineOf(format, text))).toEqual({ value: kept, err: kept, after: "1" });
};

/** Half of a surrogate pair as often as anything else: a cut may leave one. */
const codeUnits = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 });
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  codeUnits.map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom(...Object.values(NASTY_TEXTS)), { maxLength: 3 }).map((texts) => texts.join("")),
);

describe.each(["text", "json"] as const)("in %s format", (format) => {
  test.each(Object.entries(NASTY_TEXTS))("%s: one line, and the text can be read back", (_what, text) => {
    expectReadBack(format, text);
  });

  test("any text: one line without a raw control character, and the text can be read back", () => {
    fc.assert(
      fc.property(anyText, (text) => expectReadBack(format, text)),
      { numRuns: 500, seed: 7 },
    );
  });

  test("no line is longer than what its values may have, escaped", () => {
    expect(lineOf(format, "\u{e0041}".repeat(1_000_000)).length).toBeLessThan(
      2 * (MAX_VALUE_LENGTH * 6 + 200),
    );
  });
});
