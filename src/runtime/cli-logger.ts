import { createKlogSink, createLineWriter } from "../logging/klog-sink";
import { createTextLine } from "../logging/klog-text";
import { createLogger, type Logger } from "../logging/logger";
import type { LoggingConfig, LoggingResolution } from "../logging/logging-options";
import { limitRepeats } from "../logging/repeats";

const DEFAULT_LOGGING: LoggingConfig = { format: "text", verbosity: 0, vmodule: [], splitStream: false };

/** Descriptors, because `process.stderr` creates a stream first, which takes milliseconds. */
const STDOUT_FD = 1;
const STDERR_FD = 2;

/** Makes the logger of a command that keeps running: with klog's defaults if the logging flags are invalid. */
export async function createCliLogger(logging: LoggingResolution): Promise<Logger> {
  const config = logging.kind === "valid" ? logging.config : DEFAULT_LOGGING;
  const lineOf =
    config.format === "json"
      ? (await import("../logging/json-line")).createJsonLine()
      : createTextLine(process.pid);
  const error = createLineWriter(STDERR_FD);
  const info = config.splitStream ? createLineWriter(STDOUT_FD) : error;
  return createLogger(limitRepeats(createKlogSink(config, lineOf, { info, warning: error, error })));
}
