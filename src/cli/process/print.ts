import { writeSync } from "node:fs";
import { errnoOf, messageOf } from "../../base/errors";

const STDOUT_FD = 1;
const PAUSE_MS = 10;

/** Writes all of a text to stdout. Returns the exit code: 1 if that failed, with the reason on stderr except for EPIPE. */
export function print(text: string, fd = STDOUT_FD): 0 | 1 {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "EAGAIN") {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
        continue;
      }
      if (errno !== "EPIPE") process.stderr.write(`registrar: cannot write to stdout: ${messageOf(error)}\n`);
      return 1;
    }
  }
  return 0;
}
