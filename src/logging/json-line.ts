import { type LoggerOptions, pino } from "pino";
import { messageOf } from "../base/errors";
import { boundText, escapeJson } from "./escape";
import { loggedValue } from "./klog-text";
import type { LogRecord } from "./logger";

/**
 * Makes a function that writes records as component-base's JSON lines, by pino, which serialises safely. No other module loads
 * it, because it takes time and memory.
 */
export function createJsonLine(): (record: LogRecord, timeMs: number) => string {
  let line = "";
  let timeMs = 0;
  const options: LoggerOptions = {
    base: null,
    // No comma in front of the time: without a level it is the first key, as in component-base.
    timestamp: () => `"ts":${timeMs}`,
    formatters: {
      level: () => ({}),
      log: (given) => klogJson((given as { readonly record: LogRecord }).record),
    },
  };
  const write = (json: string) => {
    line = json;
  };
  const logger = pino(options, { write });
  return (record, lineTimeMs) => {
    timeMs = lineTimeMs;
    logger.info({ record });
    return escapeJson(line);
  };
}

/**
 * What Kubernetes' component-base puts into a JSON log line after `ts` (component-base `logs/json`, zapr). Warnings, which it
 * has not, are info lines with `"severity":"warning"`. A field cannot replace `caller`, `msg`, `v` or `err`; component-base would
 * write the key twice.
 */
export function klogJson(record: LogRecord): Record<string, unknown> {
  const { severity, verbosity, error } = record;
  const head = {
    caller: `${record.file}.ts:${record.line}`,
    msg: record.message,
    ...(severity === "error" ? {} : { v: verbosity }),
    ...(severity === "warning" ? { severity } : {}),
  };
  const fields = Object.entries(record.fields).map(([key, value]) => [key, loggedValue(value)]);
  return {
    ...head,
    ...Object.fromEntries(fields),
    ...head,
    ...(error === undefined ? {} : { err: boundText(messageOf(error)) }),
  };
}
