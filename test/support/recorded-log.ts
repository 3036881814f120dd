import { createLogger, type Logger, type LogRecord } from "../../src/logging/logger";

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
  const records: LogRecord[] = [];
  const waiting = new Set<() => void>();
  const all = (message: string) => records.filter((record) => record.message === message);
  return {
    records,
    all,
    when: (message, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const record = all(message)[count - 1];
          if (record === undefined) return;
          waiting.delete(look);
          resolve(record);
        };
        waiting.add(look);
        look();
      }),
    logger: createLogger({
      enabled: (wanted) => wanted <= verbosity,
      write: (record) => {
        records.push(record);
        for (const look of [...waiting]) look();
      },
    }),
  };
}
