import { createLogger, type LogRecord } from "../../src/logging/logger";
import { createHistory } from "./history";

/** A logger that keeps its records, except info lines beyond `verbosity`; by default it keeps all. */
export function recordLog(verbosity = 10) {
  const history = createHistory<LogRecord>("the log");
  return {
    records: history.all(),
    all: (message: string) => history.all().filter((record) => record.message === message),
    /** Resolves with record number `count` of this message, be it there already or still to come. */
    when: (message: string, count = 1) => {
      let times = 0;
      return history.waitFor((record) => record.message === message && ++times === count);
    },
    logger: createLogger({ enabled: (wanted) => wanted <= verbosity, write: history.add }),
  };
}

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
