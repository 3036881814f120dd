import fs from "node:fs";
import { basename } from "node:path";
import tty from "node:tty";
import { resolveLogging } from "../../src/logging/logging-options";
import { createCliLogger } from "../../src/runtime/cli-logger";
import { printHelp } from "../../src/runtime/help-text";
import { print, printError } from "../../src/runtime/print";
import { flagsOf } from "../flags/support";

/** What is written to stdout and stderr, by their descriptors, where a write may fail. */
function recordWrites(fail?: string) {
  const writes: string[] = [];
  const { writeSync } = fs;
  jest.spyOn(fs, "writeSync").mockImplementation(((fd: number, bytes: Buffer) => {
    if (fd > 2) return writeSync(fd, bytes); // Jest keeps the module that is loaded now.
    if (fail !== undefined) throw Object.assign(new Error(`${fail}: write`), { code: fail });
    writes.push(`${fd} ${bytes}`);
    return bytes.length;
  }) as typeof fs.writeSync);
  jest.spyOn(process.stderr, "write").mockImplementation((text) => writes.push(`stderr ${text}`) > 0);
  return writes;
}

test.each([
  [undefined, 0, ["1 text\n"]],
  ["EPIPE", 1, []],
  ["ENOSPC", 1, ["stderr registrar: cannot write to stdout: ENOSPC: write\n"]],
])("a text for stdout, where a write fails with %s", (error, code, written) => {
  const writes = recordWrites(error);
  expect(print("text\n")).toBe(code);
  expect(writes).toEqual(written);
});

test.each([
  [false, 80, 110],
  [true, 109, 80],
  [true, 110, 110],
])("help where stdout is a terminal: %s, of %i columns, has %i", (isTerminal, columns, width) => {
  const writes = recordWrites();
  jest.spyOn(tty, "isatty").mockReturnValue(isTerminal);
  const own = process.stdout.columns;
  process.stdout.columns = columns;
  const read = jest.spyOn(fs, "readFileSync").mockImplementation((file) => basename(String(file)));
  expect(printHelp("doctor")).toBe(0);
  read.mockRestore();
  process.stdout.columns = own; // Other test files of this process have the same one.
  expect(writes).toEqual([`1 doctor-${width}.txt`]);
});

test("an error is one line for each of its lines, and controls no terminal", () => {
  const writes = recordWrites();
  printError("a\nb", "\x1b[2J");
  expect(writes).toEqual(["stderr a\\nb\n\\u001b[2J\n"]);
});

test.each([
  ["text", "", ["2 I", "2 W", "2 E"]],
  ["text, split", "--log-text-split-stream", ["1 I", "2 W", "2 E"]],
  ["JSON", "--logging-format=json", ["2 {", "2 {", "2 {"]],
  ["JSON, split", "--logging-format=json --log-json-split-stream", ["1 {", "2 {", "2 {"]],
  ["verbose", "--v=4", ["2 I", "2 I", "2 W", "2 E"]],
  ["invalid", "--logging-format=xml --v=4", ["2 I", "2 W", "2 E"]],
])("each line of the log goes to its stream, equal warnings once: %s", async (_what, words, starts) => {
  const writes = recordWrites();
  const log = await createCliLogger(resolveLogging(flagsOf(...words.split(" ").filter(Boolean))));
  log.info("plain");
  log.v(4).info("details");
  log.warn("careful");
  log.warn("careful");
  log.error(undefined, "failed");
  expect(writes.map((line) => line.slice(0, 3))).toEqual(starts);
  if (words === "")
    expect(writes[0]).toMatch(new RegExp(` ${process.pid} registrar\\.ts:\\d+\\] "plain"\n$`));
});
