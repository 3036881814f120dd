import { invalidOption } from "../base/errors";
import { guardedCall } from "../base/guarded-call";

export type LogFields = Readonly<Record<string, unknown>>;

export interface LogRecord {
  readonly severity: "info" | "warning" | "error";
  /** klog's verbosity of an info line: 0 is always written, 5 is for debugging. Always 0 for warnings and errors. */
  readonly verbosity: number;
  /** Source file without directory and extension, as `-vmodule` patterns name it. */
  readonly file: string;
  /** Line in that source file; 0 where the build did not stamp it. */
  readonly line: number;
  readonly message: string;
  /** The error that `error()` got, or undefined. */
  readonly error: unknown;
  readonly fields: LogFields;
}

/** Where log records go: the CLI's klog writer, a test's array, a library user's own logger. */
export interface LogSink {
  /** Whether an info line of this verbosity from this file is wanted. Warnings and errors are always written. */
  enabled(verbosity: number, file: string): boolean;
  write(record: LogRecord): void;
}

/** Structured logging like logr's and klog's: a constant message, and the details in keys. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** `error` is undefined if nothing was thrown (klog's `Error(nil, ...)`). */
  error(error: unknown, message: string, fields?: LogFields): void;
  /** The same logger; its info lines have this verbosity. */
  v(verbosity: number): Logger;
  /** Whether an info line of this logger would be written: to skip fields that are costly to compute. */
  enabled(): boolean;
  /** The same logger for another source file; each module names itself once. */
  named(file: string): Logger;
  /** The same logger with fields on every line. */
  with(fields: LogFields): Logger;
  /** The same logger; its next line names this source line. The build inserts the call. */
  at(line: number): Logger;
}

type Origin = Pick<LogRecord, "file" | "line" | "verbosity" | "fields">;

const GUARDED = Symbol("guarded");
type GuardedLogger = Logger & { readonly [GUARDED]: true };

/**
 * Makes a logger that writes to `sink`. When the sink throws or rejects, only that line is lost. Throws INVALID_OPTION if
 * `sink` lacks one of its functions.
 */
export function createLogger(sink: LogSink): Logger {
  for (const name of ["enabled", "write"] as const)
    if (typeof (Object(sink) as Partial<LogSink>)[name] !== "function")
      throw invalidOption(`createLogger: the sink has no function ${name}`);
  return fromOrigin(guarded(sink), { file: "registrar", line: 0, verbosity: 0, fields: {} });
}

/** A logger that writes nothing: the library's default. */
export const silentLogger: Logger = createLogger({ enabled: () => false, write: () => {} });

function guarded(sink: LogSink): LogSink {
  const loseLine = () => {}; // A registration does not end because its log cannot be written, and there is no other log.
  return {
    enabled: (verbosity, file) => guardedCall(() => sink.enabled(verbosity, file), loseLine) ?? false,
    write: (record) => void guardedCall(() => sink.write(record), loseLine),
  };
}

/** Whether `createLogger` made it, so that its sink's errors do not reach the caller. */
export function isGuarded(logger: object): logger is GuardedLogger {
  return GUARDED in logger;
}

function fromOrigin(sink: LogSink, origin: Origin): GuardedLogger {
  const derive = (change: Partial<Origin>) => fromOrigin(sink, { ...origin, ...change });
  const write = (severity: LogRecord["severity"], message: string, error: unknown, fields: LogFields) =>
    sink.write({
      ...origin,
      severity,
      verbosity: severity === "info" ? origin.verbosity : 0,
      message,
      error,
      fields: { ...origin.fields, ...fields },
    });
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
