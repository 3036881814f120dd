import { inspect, types } from "node:util";
import { messageOf, RegistrarError } from "../base/errors";
import { escapeUnprintable } from "./escape";
import { createLogger, isGuarded, type Logger, type LogRecord, type LogSink, loggerTo } from "./logger";

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

/** The library's default: it writes nothing, and makes the first line of each message and method, or event, with `UNHEARD` a warning of the process. */
function createDefaultLogger(): Logger {
  const told = new Set<string>();
  const onUnheard = ({ message, error, fields }: LogRecord) => {
    const { method, event } = fields;
    const fault = `${message} ${method ?? event}`;
    if (told.has(fault)) return;
    told.add(fault);
    const causes =
      error === undefined ? [] : [types.isNativeError(error) ? messageOf(error) : inspect(error)];
    const details = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    const text = escapeUnprintable([message, ...causes, ...details].join("; "));
    const detail = types.isNativeError(error) && !(error instanceof RegistrarError) ? error.stack : undefined;
    process.emitWarning(text, { type: "RegistrarWarning", ...(detail && { detail }) });
  };
  return loggerTo({ enabled: () => false, write: () => {}, onUnheard });
}

export function resolveLogger(given: LoggerOption | undefined): Logger {
  if (given === undefined) return createDefaultLogger();
  if (isGuarded(given)) return given;
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
      return theirs.error(error, message, fields);
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
      return to[levels[record.severity]](record.message, Object.fromEntries(fields));
    },
  };
}

function pinoSink(to: PinoLike): LogSink {
  return {
    enabled: (verbosity) => to.isLevelEnabled?.(infoLevel(verbosity)) ?? true,
    write: (record) => {
      const { severity, verbosity } = record;
      const level = severity === "warning" ? "warn" : severity === "error" ? "error" : infoLevel(verbosity);
      return to[level](fieldsOf(record), record.message);
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
