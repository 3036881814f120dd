import { parseVmodule } from "../../src/flags/values";
import { createFileVerbosity, type LoggingFlags, resolveLogging } from "../../src/logging/logging-options";
import { flagsOf } from "../flags/support";

const vmodule = [{ pattern: "a", verbosity: 1 }];
const given = flagsOf();
const text = { format: "text", verbosity: 0, vmodule: [], splitStream: false };
const json = { ...text, format: "json" };

test.each<[string, Partial<LoggingFlags>, object]>([
  ["nothing given", {}, text],
  ["text", { loggingFormat: "text", v: 5, vmodule }, { ...text, verbosity: 5, vmodule }],
  ["json", { loggingFormat: "json" }, json],
  ["the shortest flush frequency", { logFlushFrequencyMs: 1e-6 }, text],
  // The official registrar forbids these two for want of a feature gate.
  ["text, split", { logTextSplitStream: true }, { ...text, splitStream: true }],
  ["json, split", { loggingFormat: "json", logJsonSplitStream: true }, { ...json, splitStream: true }],
  ["the other format's split", { loggingFormat: "json", logTextSplitStream: true }, json],
])("%s", (_, flags, config) => {
  expect(resolveLogging({ ...given, ...flags })).toEqual({ kind: "valid", config });
});

const format = (name: string) => `format: Invalid value: ${name}: Unsupported log format`;
const flush = (value: string) => `flushFrequency: Invalid value: "${value}": Must be greater than zero`;
const ALL_WRONG = { logFlushFrequencyMs: 0, loggingFormat: "xml" };
const forbidden = "vmodule: Forbidden: Only supported for text log format";

// What the official registrar v2.17 prints as err= of "LoggingConfiguration is invalid" before exit 1.
test.each<[Partial<LoggingFlags>, string]>([
  [{ loggingFormat: "xml" }, format('"xml"')],
  [{ loggingFormat: "JSON" }, format('"JSON"')],
  [{ loggingFormat: "" }, format('""')],
  [{ loggingFormat: 'a"b\n' }, format(String.raw`"a\"b\n"`)],
  [{ loggingFormat: "", vmodule }, format('""')],
  [{ loggingFormat: "json", vmodule }, forbidden],
  [{ loggingFormat: "json", vmodule: [{ pattern: "a", verbosity: 0 }] }, forbidden],
  [{ logFlushFrequencyMs: 0 }, flush("0s")],
  [{ logFlushFrequencyMs: -2500 }, flush("-2.5s")],
  [{ logFlushFrequencyMs: -5_400_000 }, flush("-5400s")],
  [ALL_WRONG, `[${flush("0s")}, ${format('"xml"')}]`],
  [{ ...ALL_WRONG, vmodule }, `[${flush("0s")}, ${format('"xml"')}, ${forbidden}]`],
])("%j is refused in component-base's words", (flags, error) => {
  expect(resolveLogging({ ...given, ...flags })).toEqual({ kind: "invalid", error });
});

// Outcomes of klog v2.140 for a call in csi_driver.go.
test.each([
  ["csi_driver=3", 3],
  ["csi*=3", 3],
  ["csi?driver=3", 3],
  ["*=3", 3],
  ["csi_drive=3", 0],
  ["csi_driver.go=3", 0],
  ["cmd/csi_driver=3", 0],
  ["*/csi_driver=3", 0],
  ["CSI*=3", 0],
  ["csi_driver=2,csi*=5", 2],
  ["csi*=5,csi_driver=2", 5],
  ["csi_driver=0,*=5", 5],
  ["csi.driver=4", 0],
  ["csi[=4", 0],
  ["*[=4", 0],
  ["", 0],
])("%s gives csi_driver verbosity %d", (text, verbosity) => {
  expect(createFileVerbosity(parseVmodule(text))("csi_driver")).toBe(verbosity);
});
