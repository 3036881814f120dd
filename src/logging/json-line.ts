import { pino } from "pino";
import { messageOf } from "../base/errors";
import { boundText, escapeJson } from "./escape";
import type { LineHeader } from "./klog-sink";
import type { LogRecord } from "./logger";

/**
 * Makes a function that writes records as component-base's JSON lines. pino is underneath: it serialises safely (cycles,
 * bigints, a throwing `toJSON`). This is the only module that loads it, since it costs time and memory.
 */
export function createJsonLine(): (record: LogRecord, header: LineHeader) => string {
  let line = "";
  let timeMs = 0;
  const logger = pino(
    {
      base: null,
      // No comma in front of the time: without a level it is the first key, as in component-base.
      timestamp: () => `"ts":${timeMs}`,
      formatters: {
        level: () => ({}),
        log: (given) => klogJson((given as { readonly record: LogRecord }).record),
      },
    },
    {
      write: (json: string) => {
        line = json;
      },
    },
  );
  return (record, header) => {
    timeMs = header.timeMs;
    logger.info({ record });
    return escapeJson(line);
  };
}

/**
 * What Kubernetes' component-base puts into a JSON log line, in its order, all but the leading `ts`:
 * `caller`, `msg`, then `v` and the fields for info lines, the fields and then `err` for errors.
 *
 * component-base has no warnings: it turns klog's into info lines. So do we, and add `"severity":"warning"` to keep
 * them apart. `caller` has no folder. A field cannot replace `caller`, `msg`, `v` or `err`; component-base would write
 * the key twice. Source: component-base `logs/json`, zapr.
 */
export function klogJson(record: LogRecord): Record<string, unknown> {
  const { severity, verbosity, error } = record;
  const head = {
    caller: `${record.file}.ts:${record.line}`,
    msg: record.message,
    ...(severity === "error" ? {} : { v: verbosity }),
    ...(severity === "warning" ? { severity } : {}),
  };
  const fields = Object.entries(record.fields).map(([key, value]) => [key, plainValue(value)]);
  return {
    ...head,
    ...Object.fromEntries(fields),
    ...head,
    ...(error === undefined ? {} : { err: boundText(messageOf(error)) }),
  };
}

function plainValue(value: unknown): unknown {
  if (value instanceof Error) return boundText(messageOf(value));
  if (typeof value === "string") return boundText(value);
  return value === undefined ? null : value;
}
