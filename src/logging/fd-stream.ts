import { writeSync } from "node:fs";
import { errnoOf } from "../base/errors";

/** Where finished log lines go, such as `process.stderr`. */
export interface LineStream {
  write(line: string): unknown;
}

const PAUSE_MS = 10;
const MAX_PAUSES = 20;

/**
 * Writes each line to a file descriptor before `write` returns, so the process may end at any time. It never throws, because
 * a registrar that cannot log still registers, and never closes the descriptor.
 *
 * When the reader falls behind, `write` waits: without limit if the descriptor blocks (the usual case), else for 200 ms
 * without progress. Then the line is lost, as after any other failure (EPIPE, ENOSPC).
 */
export function createFdStream(fd: number): LineStream {
  /** Whether the end of a line was lost after its beginning was written. */
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
          // A synchronous write can wait only by stopping its thread.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
        }
      }
      if (rest.length < length) isTorn = rest.length > 0;
    },
  };
}
