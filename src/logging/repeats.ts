import { klogMessage } from "./klog-text";
import type { LogFields, Logger, LogRecord, LogSink } from "./logger";

const MAX_REMEMBERED = 64;
const INTERVAL_MS = 60_000;

/**
 * A sink that keeps a lasting fault from flooding the log: of equal warnings or errors (same place, message, error
 * and fields) it writes the first at once, then at most one a minute, with `repeated`, the number of equal lines left out
 * before it. Info lines pass.
 *
 * Without a timer, lines left out after the last one written are never reported. It remembers the latest 64 different lines
 * and writes a forgotten one again.
 */
export function limitRepeats(sink: LogSink): LogSink {
  const memories = new Map<string, { readonly silentUntilMs: number; readonly leftOut: number }>();

  const remember = (key: string, silentUntilMs: number, leftOut: number) => {
    memories.delete(key);
    memories.set(key, { silentUntilMs, leftOut });
    const [oldest = key] = memories.keys();
    if (memories.size > MAX_REMEMBERED) memories.delete(oldest);
  };

  return {
    enabled: (verbosity, file) => sink.enabled(verbosity, file),
    write(record) {
      if (record.severity === "info") return sink.write(record);
      const key = keyOf(record);
      const nowMs = performance.now();
      const memory = memories.get(key);
      if (memory !== undefined && nowMs < memory.silentUntilMs)
        return remember(key, memory.silentUntilMs, memory.leftOut + 1);
      remember(key, nowMs + INTERVAL_MS, 0);
      const repeated = memory?.leftOut;
      sink.write(repeated ? { ...record, fields: { ...record.fields, repeated } } : record);
    },
  };
}

const keyOf = (record: LogRecord) =>
  `${record.severity} ${record.file}:${record.line} ${klogMessage(record)}`;

/**
 * Makes a warning that clients can cause, but not turn into a flood: the first one is written at once, then at most one in
 * `intervalMs`, which says in `sinceLast` how many it stands for. It needs no timer.
 */
export function createPacedWarning(
  log: Logger,
  message: string,
  intervalMs = INTERVAL_MS,
): (fields: LogFields) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (fields) => {
    unsaid += 1;
    const now = performance.now();
    if (now < quietUntil) return;
    log.warn(message, unsaid > 1 ? { ...fields, sinceLast: unsaid } : fields);
    quietUntil = now + intervalMs;
    unsaid = 0;
  };
}
