import type { LogRecord } from "../../src/logging/logger";

export function recordOf(change: Partial<LogRecord>): LogRecord {
  return {
    severity: "info",
    verbosity: 0,
    file: "csi-driver",
    line: 12,
    message: "Msg",
    error: undefined,
    fields: {},
    ...change,
  };
}
