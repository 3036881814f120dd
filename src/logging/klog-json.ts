import { messageOf } from "../errors";
import { boundText } from "./bound";
import type { LogRecord } from "./logger";

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
