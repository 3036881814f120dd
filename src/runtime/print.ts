import { errnoOf, messageOf } from "../base/errors";
import { writeAll } from "../logging/klog-sink";

const STDOUT_FD = 1;

/** Writes all of a text to stdout. Returns the exit code: 1 if that failed, with the reason on stderr except for EPIPE. */
export function print(text: string): 0 | 1 {
  const { error } = writeAll(STDOUT_FD, Buffer.from(text), Number.POSITIVE_INFINITY);
  if (error === undefined) return 0;
  if (errnoOf(error) !== "EPIPE")
    process.stderr.write(`registrar: cannot write to stdout: ${messageOf(error)}\n`);
  return 1;
}
