import { writeSync } from "node:fs";
import { errnoOf } from "../errors";

/** Where finished log lines go; `process.stderr` is one. */
export interface LineStream {
  /** Takes one line with its line feed. */
  write(line: string): unknown;
}

const PAUSE_MS = 10;
const MAX_PAUSES = 20;

/**
 * Writes lines to a file descriptor, each at once: after `write` returns nothing is left to flush, so the process
 * may end on its next statement. It never throws: a log that cannot be written is no reason to stop registering.
 *
 * Where the reader falls behind, a blocking descriptor (the usual case) makes the write wait, as it does with any
 * program. A non-blocking one is waited for too, but for 200 ms without progress at most; then the line is lost, as
 * it is on any other failure (EPIPE, ENOSPC). The next line is tried again. The descriptor is never closed.
 */
export function createFdStream(fd: number): LineStream {
  /** Whether the reader has the beginning of a line whose end was lost. */
  let isTorn = false;
  return {
    write(line) {
      let rest = Buffer.from(isTorn ? `\n${line}` : line);
      const { length } = rest;
      for (let pauses = 0; rest.length > 0 && pauses < MAX_PAUSES; ) {
        try {
          rest = rest.subarray(writeSync(fd, rest));
          pauses = 0;
        } catch (error) {
          if (errnoOf(error) !== "EAGAIN") break;
          pauses += 1;
          pause();
        }
      }
      // Of a line that was lost whole, as of one that came whole, nothing is left to mend.
      if (rest.length < length) isTorn = rest.length > 0;
    },
  };
}

/** Stops this thread: a synchronous write has no event loop to wait in. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
