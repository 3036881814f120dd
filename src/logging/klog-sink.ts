import { writeSync } from "node:fs";
import { errnoOf } from "../base/errors";
import type { LogRecord, LogSink } from "./logger";
import { createFileVerbosity, type LoggingConfig } from "./logging-options";

type WriteLine = (line: string) => void;

/** `lineOf` makes the line of a record, with its line feed: what `createTextLine` or `createJsonLine` returns. */
export function createKlogSink(
  { verbosity, vmodule }: Pick<LoggingConfig, "verbosity" | "vmodule">,
  lineOf: (record: LogRecord, timeMs: number) => string,
  writers: Readonly<Record<LogRecord["severity"], WriteLine>>,
): LogSink {
  const fileVerbosity = createFileVerbosity(vmodule);
  const now = createPreciseClock();
  return {
    enabled: (wanted, file) => wanted <= verbosity || wanted <= fileVerbosity(file),
    write: (record) => writers[record.severity](lineOf(record, now())),
  };
}

const PAUSE_MS = 10;
const MAX_PAUSES = 20;

/**
 * Writes bytes to a file descriptor, and waits while its reader is behind: without limit if the descriptor blocks, else for
 * `maxPauses` times 10 ms without progress. Returns how many are written, and the error that ended it.
 */
export function writeAll(fd: number, bytes: Buffer, maxPauses: number) {
  let written = 0;
  for (let pauses = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes.subarray(written));
      pauses = 0;
    } catch (error) {
      pauses += 1;
      if (errnoOf(error) !== "EAGAIN" || pauses >= maxPauses) return { written, error };
      // A synchronous write can wait only by stopping its thread.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
  return { written };
}

/**
 * Writes each line to a file descriptor before it returns, so the process may end at any time. It never throws, because a
 * registrar that cannot log still registers. A line that fails (EPIPE, ENOSPC), or finds no reader for 200 ms, is lost.
 */
export function createLineWriter(fd: number): WriteLine {
  /** Whether the end of a line was lost after its beginning was written. */
  let isTorn = false;
  return (line) => {
    const bytes = Buffer.from(isTorn ? `\n${line}` : line);
    const { written } = writeAll(fd, bytes, MAX_PAUSES);
    if (written > 0) isTorn = written < bytes.length;
  };
}

/** When both clocks are further apart than this, in milliseconds, the wall clock was set. */
const TOLERANCE_MS = 2;

/** Makes a wall clock with the fractions of a millisecond that klog's lines show; it follows when the system's clock is set. */
export function createPreciseClock(): () => number {
  let offset = Number.NaN;
  return () => {
    const [wallMs, monotonicMs] = [Date.now(), performance.now()];
    const precise = offset + monotonicMs;
    if (Math.abs(precise - wallMs) <= TOLERANCE_MS) return precise;
    offset = wallMs - monotonicMs;
    return wallMs;
  };
}
