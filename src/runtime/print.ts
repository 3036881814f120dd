import { errnoOf, messageOf } from "../base/errors";
import { escapeUnprintable } from "../logging/escape";
import { writeAll } from "../logging/klog-sink";

const STDOUT_FD = 1;

/** Writes all of a text to stdout. Returns the exit code: 1 if that failed, with the reason on stderr except for EPIPE. */
export function print(text: string): 0 | 1 {
  const { error } = writeAll(STDOUT_FD, Buffer.from(text), Number.POSITIVE_INFINITY);
  if (error === undefined) return 0;
  if (errnoOf(error) !== "EPIPE") printError(`registrar: cannot write to stdout: ${messageOf(error)}`);
  return 1;
}

/** Writes lines to stderr, each escaped: names and errors in it start no new line and control no terminal. */
export function printError(...lines: readonly string[]): void {
  process.stderr.write(lines.map((line) => `${escapeUnprintable(line)}\n`).join(""));
}
