import { writeSync } from "node:fs";
import { errnoOf } from "../base/errors";

/** Where finished log lines go; `process.stderr` is one. */
export interface LineStream {
  /** Takes one line with its line feed. */
  write(line: string): unknown;
}

const PAUSE_MS = 10;
const MAX_PAUSES = 20;

/**
 * Writes each line to a file descriptor at once: when `write` returns there is nothing to flush, so the process may end
 * with the next statement. It never throws: a log that cannot be written is no reason to stop registering.
 *
 * If the reader falls behind, the write waits: a blocking descriptor (the usual case) without limit, a non-blocking one
 * for at most 200 ms without progress. Then the line is lost, as on any other failure (EPIPE, ENOSPC). The next line is
 * tried again. The descriptor is never closed.
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
      // A line that was lost completely leaves nothing behind to repair.
      if (rest.length < length) isTorn = rest.length > 0;
    },
  };
}

/** Stops this thread: a synchronous write has no event loop to wait in. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
