import { inspect, types } from "node:util";
import { createLogger, isGuarded, type Logger, type LogRecord, type LogSink, silentLogger } from "./logger";

/** `console`, or what has its functions, such as a logger of winston. */
export type ConsoleLike = Pick<Console, "info" | "warn" | "error">;

type PinoWrite = (fields: object, message: string) => void;

/** A logger of pino, or of bunyan's form: fields first, then the message. */
export interface PinoLike {
  readonly child: (...args: never[]) => unknown;
  readonly info: PinoWrite;
  readonly warn: PinoWrite;
  readonly error: PinoWrite;
  readonly debug: PinoWrite;
  readonly trace: PinoWrite;
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
  if (given === undefined) return silentLogger;
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
