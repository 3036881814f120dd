import { klogMessage } from "./klog-text";
import type { LogRecord, LogSink } from "./logger";

const MAX_REMEMBERED = 64;

export interface RepeatLimitOptions {
  /**
   * A warning or error that equals an earlier one is written again only after this many milliseconds.
   * @default 60_000
   */
  readonly intervalMs?: number | undefined;
  /**
   * Milliseconds from any fixed start; the clock must never go back.
   * @default performance.now
   */
  readonly now?: (() => number) | undefined;
}

interface Memory {
  readonly silentUntilMs: number;
  readonly leftOut: number;
}

/**
 * A sink that keeps a lasting fault from flooding the log: of equal warnings or errors (same place, message, error
 * and fields) the first is written at once, then at most one each interval, with `repeated`, the number of equal
 * lines left out before it. Info lines pass.
 *
 * There is no timer: lines left out after the last one written are never reported. The latest 64 different lines are
 * remembered; a forgotten one is simply written.
 */
export function limitRepeats(sink: LogSink, options: RepeatLimitOptions = {}): LogSink {
  const { intervalMs = 60_000, now = () => performance.now() } = options;
  const memories = new Map<string, Memory>();

  const remember = (key: string, memory: Memory) => {
    memories.delete(key);
    memories.set(key, memory);
    const [oldest = key] = memories.keys();
    if (memories.size > MAX_REMEMBERED) memories.delete(oldest);
  };

  return {
    enabled: (verbosity, file) => sink.enabled(verbosity, file),
    write(record) {
      if (record.severity === "info") return sink.write(record);
      const key = keyOf(record);
      const nowMs = now();
      const memory = memories.get(key);
      if (memory !== undefined && nowMs < memory.silentUntilMs)
        return remember(key, { ...memory, leftOut: memory.leftOut + 1 });
      remember(key, { silentUntilMs: nowMs + intervalMs, leftOut: 0 });
      const repeated = memory?.leftOut;
      sink.write(repeated ? { ...record, fields: { ...record.fields, repeated } } : record);
    },
  };
}

function keyOf(record: LogRecord): string {
  return `${record.severity} ${record.file}:${record.line} ${klogMessage(record)}`;
}
