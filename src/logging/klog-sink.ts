import { type Logger as PinoLogger, pino } from "pino";
import { escapeJson } from "./escape";
import type { LineStream } from "./fd-stream";
import { klogJson } from "./klog-json";
import { klogText } from "./klog-text";
import type { LogRecord, LogSink } from "./logger";
import { createFileVerbosity, type VmoduleRule } from "./vmodule";

export interface KlogSinkOptions {
  readonly format: "text" | "json";
  /** Info lines up to this verbosity are written, as with klog's `-v`. */
  readonly verbosity: number;
  /** Files whose verbosity is higher, as with klog's `-vmodule`; empty for none. */
  readonly vmodule: readonly VmoduleRule[];
  /** Shown in the header of text lines. */
  readonly pid: number;
  /** Takes warnings and errors, and info lines too if there is no `infoStream`. */
  readonly stream: LineStream;
  /**
   * Takes the info lines: split streams.
   * @default stream
   */
  readonly infoStream?: LineStream | undefined;
  /**
   * The wall clock, in milliseconds since the epoch.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
}

const PINO_LEVELS = { info: "info", warning: "warn", error: "error" } as const;

/**
 * Writes log records in klog's text format or in component-base's JSON, one line each, at once.
 *
 * It uses pino, which adds the time, serialises safely (cycles, bigints, a throwing `toJSON`) and passes each line on
 * with its record (its documented `pino.metadata` protocol), from which we make the text format. Only this module loads
 * pino: it costs memory, so probe mode and the library do without it.
 */
export function createKlogSink(options: KlogSinkOptions): LogSink {
  const { format, verbosity, stream, infoStream = stream } = options;
  const fileVerbosity = createFileVerbosity(options.vmodule);
  const logger = createPino(options, (record, json, timeMs) => {
    const line = format === "json" ? escapeJson(json) : `${klogText(record, { timeMs, pid: options.pid })}\n`;
    (record.severity === "info" ? infoStream : stream).write(line);
  });
  return {
    enabled: (wanted, file) => wanted <= verbosity || wanted <= fileVerbosity(file),
    write: (record) => logger[PINO_LEVELS[record.severity]]({ record }),
  };
}

function createPino(
  { format, now = Date.now }: KlogSinkOptions,
  deliver: (record: LogRecord, json: string, timeMs: number) => void,
): PinoLogger {
  const destination = {
    [pino.symbols.needsMetadataGsym]: true,
    lastObj: {},
    lastTime: "",
    write(json: string) {
      deliver(recordOf(this.lastObj), json, Number(this.lastTime));
    },
  };
  return pino(
    {
      base: null,
      // No comma in front of the time: without a level it is the first key, as in component-base.
      timestamp: () => `"ts":${now()}`,
      formatters: {
        level: () => ({}),
        log: format === "json" ? (merged) => klogJson(recordOf(merged)) : () => ({}),
      },
    },
    destination,
  );
}

/** The record inside the object that pino got. */
function recordOf(merged: object): LogRecord {
  return (merged as { readonly record: LogRecord }).record;
}
