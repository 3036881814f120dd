import { klogMessage } from "./klog-text";
import type { LogFields, Logger, LogSink } from "./logger";

const MAX_REMEMBERED = 64;
const INTERVAL_MS = 60_000;

/** Makes a function that says how many calls it left out since the last one that counted; undefined: leave this one out. */
function createPace(intervalMs: number = INTERVAL_MS): () => number | undefined {
  let quietUntilMs = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) {
      leftOut += 1;
      return undefined;
    }
    const before = leftOut;
    quietUntilMs = nowMs + intervalMs;
    leftOut = 0;
    return before;
  };
}

/**
 * A sink that keeps a lasting fault from flooding the log: of equal warnings or errors (same place, message, error
 * and fields) it writes the first at once, then at most one a minute, with `repeated`, the number of equal lines left out
 * before it. Info lines pass. It remembers the latest 64 different lines and writes a forgotten one again.
 */
export function limitRepeats(sink: LogSink): LogSink {
  const paces = new Map<string, ReturnType<typeof createPace>>();
  return {
    enabled: (verbosity, file) => sink.enabled(verbosity, file),
    write(record) {
      if (record.severity === "info") return sink.write(record);
      const key = `${record.severity} ${record.file}:${record.line} ${klogMessage(record)}`;
      const pace = paces.get(key) ?? createPace();
      paces.delete(key);
      paces.set(key, pace);
      const [oldest = key] = paces.keys();
      if (paces.size > MAX_REMEMBERED) paces.delete(oldest);
      const repeated = pace();
      if (repeated === undefined) return;
      sink.write(repeated > 0 ? { ...record, fields: { ...record.fields, repeated } } : record);
    },
  };
}

/**
 * Makes a warning that clients can cause, but not turn into a flood: the first one is written at once, then at most one in
 * `intervalMs`, which says in `sinceLast` how many it stands for.
 */
export function createPacedWarning(log: Logger, message: string, intervalMs?: number) {
  const pace = createPace(intervalMs);
  return (fields: LogFields): void => {
    const leftOut = pace();
    if (leftOut !== undefined)
      log.warn(message, leftOut > 0 ? { ...fields, sinceLast: leftOut + 1 } : fields);
  };
}
