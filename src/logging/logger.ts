import { invalidOption } from "../base/errors";
import { guardedCall } from "../base/guarded-call";

/** The details of a log line, by name. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One log line. */
export interface LogRecord {
  /** Info lines are left out by their verbosity; warnings and errors are always written. */
  readonly severity: "info" | "warning" | "error";
  /** klog's verbosity of an info line: 0 is always written, 5 is for debugging. Always 0 for warnings and errors. */
  readonly verbosity: number;
  /** Source file without directory and extension, as `-vmodule` patterns name it. */
  readonly file: string;
  /** Line in that source file; 0 where the build did not stamp it. */
  readonly line: number;
  /** What happened: the same text each time. */
  readonly message: string;
  /** What was thrown; undefined without an error. */
  readonly error: unknown;
  /** Those of the logger, then those of the line. */
  readonly fields: LogFields;
}

/** Where log records go: the CLI's klog writer, a test's array, a library user's own logger. */
export interface LogSink {
  /** Whether an info line of this verbosity from this file is wanted. Warnings and errors are always written. */
  enabled(verbosity: number, file: string): boolean;
  /** Writes one line. What it throws is ignored. */
  write(record: LogRecord): void;
}

/** Structured logging like logr's and klog's: a constant message, and the details in keys. */
export interface Logger {
  /** A line of the ordinary course of events. */
  info(message: string, fields?: LogFields): void;
  /** A line about what a person should look at. */
  warn(message: string, fields?: LogFields): void;
  /** `error` is undefined if nothing was thrown (klog's `Error(nil, ...)`). */
  error(error: unknown, message: string, fields?: LogFields): void;
  /** The same logger; its info lines have this verbosity. */
  v(verbosity: number): Logger;
  /** Whether an info line of this logger would be written: to skip fields that are costly to compute. */
  enabled(): boolean;
  /** The same logger for another source file. The build inserts the call, so that each line names the file that has it. */
  named(file: string): Logger;
  /** The same logger with fields on every line. */
  with(fields: LogFields): Logger;
  /** The same logger; its next line names this source line. The build inserts the call. */
  at(line: number): Logger;
}

type Origin = Pick<LogRecord, "file" | "line" | "verbosity" | "fields">;

const GUARDED = Symbol("guarded");
type GuardedLogger = Logger & { readonly [GUARDED]: true };
/** Whether it was made here, so that its sink's errors reach no caller. */
export const isGuarded = (logger: object): logger is GuardedLogger => GUARDED in logger;

const IS_UNHEARD = Symbol("is unheard");
/** Among the fields of a line whose news reaches a caller in no other way: without a logger it is a warning of the process. */
export const UNHEARD: { readonly [IS_UNHEARD]?: true } = { [IS_UNHEARD]: true };

interface InnerSink extends LogSink {
  /** Receives the lines with `UNHEARD`. */
  onUnheard?(record: LogRecord): void;
}

/**
 * Makes a logger that writes to `sink`. When the sink throws or rejects, only that line is lost. Throws INVALID_OPTION if
 * `sink` lacks one of its functions.
 */
export function createLogger(sink: LogSink): Logger {
  for (const name of ["enabled", "write"] as const)
    if (typeof (Object(sink) as Partial<LogSink>)[name] !== "function")
      throw invalidOption(`createLogger: the sink has no function ${name}`);
  const loseLine = () => {}; // A registration does not end because its log cannot be written, and there is no other log.
  const guarded: LogSink = {
    enabled: (verbosity, file) => guardedCall(() => sink.enabled(verbosity, file), loseLine) ?? false,
    write: (record) => void guardedCall(() => sink.write(record), loseLine),
  };
  return loggerTo(guarded);
}

/** The same for a sink that never fails. */
export const loggerTo = (sink: InnerSink): Logger =>
  fromOrigin(sink, { file: "registrar", line: 0, verbosity: 0, fields: {} });

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger({ enabled: () => false, write: () => {} });

function fromOrigin(sink: InnerSink, origin: Origin): GuardedLogger {
  const derive = (change: Partial<Origin>) => fromOrigin(sink, { ...origin, ...change });
  const write = (
    severity: LogRecord["severity"],
    message: string,
    error: unknown,
    { [IS_UNHEARD]: isUnheard, ...fields }: LogFields & typeof UNHEARD,
  ) => {
    const verbosity = severity === "info" ? origin.verbosity : 0;
    const record = {
      ...origin,
      severity,
      verbosity,
      message,
      error,
      fields: { ...origin.fields, ...fields },
    };
    sink.write(record);
    if (isUnheard) sink.onUnheard?.(record);
  };
  const enabled = () => sink.enabled(origin.verbosity, origin.file);
  return {
    info: (message, fields = {}) => {
      if (enabled()) write("info", message, undefined, fields);
    },
    warn: (message, fields = {}) => write("warning", message, undefined, fields),
    error: (error, message, fields = {}) => write("error", message, error, fields),
    v: (verbosity) => derive({ verbosity }),
    enabled,
    named: (file) => derive({ file }),
    with: (fields) => derive({ fields: { ...origin.fields, ...fields } }),
    at: (line) => derive({ line }),
    [GUARDED]: true,
  };
}
