import { createLogger, type Logger, type LogRecord } from "../../src/logging/logger";
import { createHistory } from "./history";

/** A logger that keeps what it is told. */
export interface RecordedLog {
  readonly logger: Logger;
  readonly records: readonly LogRecord[];
  /** The records with this message so far. */
  all(message: string): readonly LogRecord[];
  /** Resolves with record number `count` (1 by default) of this message, be it there already or still to come. */
  when(message: string, count?: number): Promise<LogRecord>;
}

/** Info lines beyond `verbosity` are not recorded; by default all are. */
export function recordLog(verbosity = 10): RecordedLog {
  const history = createHistory<LogRecord>("the log");
  return {
    records: history.all(),
    all: (message) => history.all().filter((record) => record.message === message),
    when: (message, count = 1) => {
      let times = 0;
      return history.waitFor((record) => record.message === message && ++times === count);
    },
    logger: createLogger({ enabled: (wanted) => wanted <= verbosity, write: history.add }),
  };
}
