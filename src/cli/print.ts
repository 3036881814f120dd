import { writeSync } from "node:fs";
import { errnoOf, messageOf } from "../base/errors";

const STDOUT_FD = 1;
/** Between two attempts at a pipe whose reader is slow. */
const PAUSE_MS = 10;

/**
 * Writes text to stdout, all of it before it returns, and answers the exit code: 0, or 1 where it could not be written
 * (a full disk), which is said on stderr. A reader that has left, as `head` does, is no reason for a word.
 */
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
