import type { LineStream } from "./fd-stream";
import type { LogRecord, LogSink } from "./logger";
import { createFileVerbosity, type VmoduleRule } from "./vmodule";

export interface KlogSinkOptions {
  /** Makes the line of a record, with its line feed: `textLine`, or what `createJsonLine` returns. */
  readonly lineOf: (record: LogRecord, header: LineHeader) => string;
  /** The highest verbosity of an info line, as klog's `-v`. */
  readonly verbosity: number;
  /** Files with a higher one, as klog's `-vmodule`. */
  readonly vmodule: readonly VmoduleRule[];
  /** Shown in the header of text lines. */
  readonly pid: number;
  /** Takes warnings and errors. */
  readonly stream: LineStream;
  /** Takes info lines. @default stream */
  readonly infoStream?: LineStream | undefined;
  /** The wall clock, in milliseconds since the epoch. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/** When and by whom a line was written. */
export interface LineHeader {
  /** Milliseconds since the epoch; a fraction is shown as microseconds. */
  readonly timeMs: number;
  readonly pid: number;
}

/** Writes log records in klog's text format or in component-base's JSON, one line each, at once. */
export function createKlogSink(options: KlogSinkOptions): LogSink {
  const { lineOf, verbosity, pid, stream, infoStream = stream, now = Date.now } = options;
  const fileVerbosity = createFileVerbosity(options.vmodule);
  return {
    enabled: (wanted, file) => wanted <= verbosity || wanted <= fileVerbosity(file),
    write: (record) =>
      void (record.severity === "info" ? infoStream : stream).write(lineOf(record, { timeMs: now(), pid })),
  };
}
