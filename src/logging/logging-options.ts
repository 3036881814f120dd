import { quoteGo } from "./escape";

/** One `pattern=N` of `--vmodule`. */
export interface VmoduleRule {
  /** A file name without directory and extension; `*` and `?` as in a shell. */
  readonly pattern: string;
  readonly verbosity: number;
}

/**
 * The verbosity of a file: that of the first rule that matches its whole name, else 0. Rules with N = 0 do not count, so
 * `csi-driver=0,*=5` gives csi-driver 5, as in klog. Unlike klog it knows no classes such as `[a-z]`.
 */
export function createFileVerbosity(rules: readonly VmoduleRule[]): (file: string) => number {
  const compiled = rules
    .filter(({ verbosity }) => verbosity > 0)
    .map(({ pattern, verbosity }) => ({ expression: compileGlob(pattern), verbosity }));
  return (file) => compiled.find(({ expression }) => expression.test(file))?.verbosity ?? 0;
}

function compileGlob(pattern: string): RegExp {
  const source = Array.from(pattern, (character) =>
    character === "*" ? ".*" : character === "?" ? "." : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return new RegExp(`^${source.join("")}$`, "su");
}

export interface LoggingFlags {
  readonly loggingFormat: string;
  /** Only validated: lines are written at once. */
  readonly logFlushFrequencyMs: number;
  readonly v: number;
  readonly vmodule: readonly VmoduleRule[];
  readonly logTextSplitStream: boolean;
  readonly logJsonSplitStream: boolean;
}

export interface LoggingConfig {
  readonly format: "text" | "json";
  /** The highest verbosity of an info line, as klog's `-v`. */
  readonly verbosity: number;
  /** Files with a higher one, as klog's `-vmodule`. */
  readonly vmodule: readonly VmoduleRule[];
  /** Info lines go to stdout; warnings and errors stay on stderr. */
  readonly splitStream: boolean;
}

/** `error` is what the official registrar prints as `err` of "LoggingConfiguration is invalid" before exit 1. */
export type LoggingResolution =
  | { readonly kind: "valid"; readonly config: LoggingConfig }
  | { readonly kind: "invalid"; readonly error: string };

/**
 * Checks the logging flags as component-base does (`logs/api/v1/options.go`): same checks, order and words. One difference:
 * the official registrar has no flag for feature gates, so each of its 4 alpha flags makes it exit. Here
 * `--log-*-split-stream` works for the format in use, and `--log-*-info-buffer-size` does nothing: no line is buffered.
 */
export function resolveLogging(flags: LoggingFlags): LoggingResolution {
  const { loggingFormat: format, logFlushFrequencyMs, v: verbosity, vmodule } = flags;
  const problems: string[] = [];
  if (logFlushFrequencyMs <= 0) {
    const value = quoteGo(`${logFlushFrequencyMs / 1000}s`);
    problems.push(`flushFrequency: Invalid value: ${value}: Must be greater than zero`);
  }
  if (!isFormat(format)) problems.push(`format: Invalid value: ${quoteGo(format)}: Unsupported log format`);
  // As the original has it: an empty format is unsupported, yet does not also forbid vmodule.
  if (vmodule.length > 0 && format !== "text" && format !== "")
    problems.push("vmodule: Forbidden: Only supported for text log format");
  if (problems.length > 0 || !isFormat(format))
    return { kind: "invalid", error: problems.length === 1 ? problems.join() : `[${problems.join(", ")}]` };
  const splitStream = format === "text" ? flags.logTextSplitStream : flags.logJsonSplitStream;
  return { kind: "valid", config: { format, verbosity, vmodule, splitStream } };
}

function isFormat(format: string): format is LoggingConfig["format"] {
  return format === "text" || format === "json";
}
