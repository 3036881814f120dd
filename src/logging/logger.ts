import { inspect, types } from "node:util";
import { invalidOption, messageOf, RegistrarError } from "../base/errors";
import { guardedCall } from "../base/guarded-call";
import { escapeUnprintable } from "./escape";

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

const IS_UNHEARD = Symbol("is unheard");
/** Among the fields of a line whose news reaches a caller in no other way: without a logger it is a warning of the process. */
export const UNHEARD: { readonly [IS_UNHEARD]?: true } = { [IS_UNHEARD]: true };

interface InnerSink extends LogSink {
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
  return fromOrigin(guarded, { file: "registrar", line: 0, verbosity: 0, fields: {} });
}

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger({ enabled: () => false, write: () => {} });

/** The library's default: it writes nothing, and makes the first line of each message with `UNHEARD` a warning of the process. */
function createDefaultLogger(): Logger {
  const told = new Set<string>();
  const onUnheard = ({ message, error, fields }: LogRecord) => {
    if (told.has(message)) return;
    told.add(message);
    const causes =
      error === undefined ? [] : [types.isNativeError(error) ? messageOf(error) : inspect(error)];
    const details = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    const text = escapeUnprintable([message, ...causes, ...details].join("; "));
    const detail = types.isNativeError(error) && !(error instanceof RegistrarError) ? error.stack : undefined;
    process.emitWarning(text, { type: "RegistrarWarning", ...(detail && { detail }) });
  };
  const sink = { enabled: () => false, write: () => {}, onUnheard };
  return fromOrigin(sink, { file: "registrar", line: 0, verbosity: 0, fields: {} });
}

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

/** `console`, or what has its functions, such as a logger of winston. */
export type ConsoleLike = Pick<Console, "info" | "warn" | "error">;

type PinoWrite = (fields: object, message: string) => void;

/** A logger of pino, or of bunyan's form: fields first, then the message. */
export interface PinoLike {
  /** Tells pino apart from a console; never called. */
  readonly child: (...args: never[]) => unknown;
  /** Gets info lines of verbosity 0 to 2. */
  readonly info: PinoWrite;
  /** Gets warnings. */
  readonly warn: PinoWrite;
  /** Gets errors, with `err` among the fields. */
  readonly error: PinoWrite;
  /** Gets info lines of verbosity 3 and 4. */
  readonly debug: PinoWrite;
  /** Gets info lines of verbosity 5 and more. */
  readonly trace: PinoWrite;
  /** Asked before an info line is made; without it every line is made. */
  readonly isLevelEnabled?: (level: "info" | "debug" | "trace") => boolean;
}

/** Where the caller wants the log: `console`, pino, or a logger of `createLogger`. */
export type LoggerOption = Logger | PinoLike | ConsoleLike;

/** Info lines of higher verbosity are debug lines in pino; `console` does not get them. */
const MOST_INFO_VERBOSITY = 2;
const TRACE_VERBOSITY = 5;

export function isLoggerOption(given: unknown): given is LoggerOption {
  const { info, warn, error } = Object(given) as Partial<ConsoleLike>;
  return [info, warn, error].every((write) => typeof write === "function");
}

export function resolveLogger(given: LoggerOption | undefined): Logger {
  if (given === undefined) return createDefaultLogger();
  if (GUARDED in given) return given as GuardedLogger; // Made by `createLogger`: its sink's errors do not reach the caller.
  if ("named" in given && "at" in given) return createLogger(loggerSink(given));
  // Others have children too, but write as console does: winston.
  return createLogger("child" in given && "trace" in given ? pinoSink(given) : consoleSink(given));
}

/** The caller's own logger: it may throw. */
function loggerSink(to: Logger): LogSink {
  return {
    enabled: (verbosity, file) => to.named(file).v(verbosity).enabled(),
    write: ({ severity, verbosity, file, line, message, error, fields }) => {
      const theirs = to.named(file).v(verbosity).at(line);
      if (severity === "info") return theirs.info(message, fields);
      if (severity === "warning") return theirs.warn(message, fields);
      theirs.error(error, message, fields);
    },
  };
}

/** Only `console` prints an Error in an object: winston's JSON of one is `{}`, so others get its text, stack and causes. */
function consoleSink(to: ConsoleLike): LogSink {
  const levels = { info: "info", warning: "warn", error: "error" } as const;
  const shown = (value: unknown) => (types.isNativeError(value) && to !== console ? inspect(value) : value);
  return {
    enabled: (verbosity) => verbosity <= MOST_INFO_VERBOSITY,
    write: (record) => {
      const fields = Object.entries(fieldsOf(record)).map(([name, value]) => [name, shown(value)]);
      to[levels[record.severity]](record.message, Object.fromEntries(fields));
    },
  };
}

function pinoSink(to: PinoLike): LogSink {
  return {
    enabled: (verbosity) => to.isLevelEnabled?.(infoLevel(verbosity)) ?? true,
    write: (record) => {
      const { severity, verbosity } = record;
      const level = severity === "warning" ? "warn" : severity === "error" ? "error" : infoLevel(verbosity);
      to[level](fieldsOf(record), record.message);
    },
  };
}

function infoLevel(verbosity: number): "info" | "debug" | "trace" {
  if (verbosity <= MOST_INFO_VERBOSITY) return "info";
  return verbosity < TRACE_VERBOSITY ? "debug" : "trace";
}

/** `err` is what pino's own serialiser knows, and what klog calls it. */
function fieldsOf({ error, fields }: LogRecord): object {
  return error === undefined ? fields : { err: error, ...fields };
}
