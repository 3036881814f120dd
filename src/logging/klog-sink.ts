import type { LineStream } from "./fd-stream";
import type { LogRecord, LogSink } from "./logger";
import type { LoggingConfig } from "./logging-options";
import { createFileVerbosity } from "./vmodule";

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
