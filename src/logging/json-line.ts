import { pino } from "pino";
import { escapeJson } from "./escape";
import { klogJson } from "./klog-json";
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
