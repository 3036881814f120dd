import { writeSync } from "node:fs";
import { errnoOf } from "../base/errors";
import type { LogRecord, LogSink } from "./logger";
import { createFileVerbosity, type LoggingConfig } from "./logging-options";

export interface KlogSinkOptions extends Pick<LoggingConfig, "verbosity" | "vmodule"> {
  /** Makes the line of a record, with its line feed: what `createTextLine` or `createJsonLine` returns. */
  readonly lineOf: (record: LogRecord, timeMs: number) => string;
  /** Takes warnings and errors. */
  readonly stream: LineStream;
  /** Takes info lines. @default stream */
  readonly infoStream?: LineStream | undefined;
  /** The wall clock, in milliseconds since the epoch; text lines show a fraction as microseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** Writes one line for each record, at once. */
export function createKlogSink(options: KlogSinkOptions): LogSink {
  const { lineOf, verbosity, stream, infoStream = stream, now = Date.now } = options;
  const fileVerbosity = createFileVerbosity(options.vmodule);
  return {
    enabled: (wanted, file) => wanted <= verbosity || wanted <= fileVerbosity(file),
    write: (record) => void (record.severity === "info" ? infoStream : stream).write(lineOf(record, now())),
  };
}

/** Where finished log lines go, such as `process.stderr`. */
interface LineStream {
  write(line: string): unknown;
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
      const bytes = Buffer.from(isTorn ? `\n${line}` : line);
      const { written } = writeAll(fd, bytes, MAX_PAUSES);
      if (written > 0) isTorn = written < bytes.length;
    },
  };
}

/** When both clocks are further apart than this, in milliseconds, the wall clock was set. */
const TOLERANCE_MS = 2;

/**
 * Makes a wall clock: milliseconds since the epoch with a fraction, which `Date.now` lacks. It follows when the system's clock
 * is set.
 */
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
