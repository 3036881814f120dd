import { boundText } from "../../src/logging/escape";
import { createJsonLine } from "../../src/logging/json-line";
import { createTextLine } from "../../src/logging/klog-text";
import { parseLogLine } from "../end-to-end/support/log-line";
import { NASTY_TEXTS, UNPRINTABLE } from "../support/nasty-texts";
import { recordOf } from "../support/recorded-log";

const FORMATS = [
  ["text", createTextLine(1), (line: string) => parseLogLine(line)?.fields ?? {}],
  ["json", createJsonLine(), (line: string) => JSON.parse(line)],
] as const;

/** What a peer said, as a value and as an error: one line, at most 4096 characters of each, and it can be read back. */
describe.each(FORMATS)("in %s format", (_format, lineOf, fieldsIn) => {
  test.each(Object.entries(NASTY_TEXTS))("%s", (_what, text) => {
    const record = recordOf({ severity: "error", error: new Error(text), fields: { value: text, after: 1 } });
    const line = lineOf(record, 1).replace(/\n$/, "");
    expect(line).not.toMatch(UNPRINTABLE);
    const { value, err, after } = fieldsIn(line);
    expect([value, err, String(after)]).toEqual([boundText(text), boundText(text), "1"]);
    expect(value.length).toBeLessThan(4_200);
  });
});
