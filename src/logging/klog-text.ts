import { messageOf } from "../base/errors";
import { boundText, escapeGo, escapeJson, quoteGo } from "./escape";
import type { LogRecord } from "./logger";

const SEVERITY_LETTERS = { info: "I", warning: "W", error: "E" } as const;

/**
 * Makes a function that writes records as lines of klog's text format:
 * `I0102 15:04:05.000000       1 csi-driver.ts:12] "Msg" err="what" key="value"`, in local time.
 *
 * klog v2.140 prints the same, except that it spreads a value with a line feed over several lines. Here it stays quoted, so
 * that a peer's text cannot forge a line. Source: klog `internal/buffer` (header) and `internal/serialize` (values).
 */
export function createTextLine(pid: number): (record: LogRecord, timeMs: number) => string {
  const paddedPid = String(pid).padStart(7);
  return (record, timeMs) => {
    const offsetMs = new Date(timeMs).getTimezoneOffset() * 60_000;
    // In 2026-01-02T15:04:05.000Z: without the year and the zone.
    const local = new Date(timeMs - offsetMs).toISOString().slice(5, -1);
    const time = local.replace("-", "").replace("T", " ");
    const microseconds = `${Math.floor((timeMs % 1) * 1000)}`.padStart(3, "0");
    const header = `${SEVERITY_LETTERS[record.severity]}${time}${microseconds} ${paddedPid}`;
    return `${header} ${record.file}.ts:${record.line}] ${klogMessage(record)}\n`;
  };
}

/** A klog line without its header: the quoted message, `err` when there is one, the fields in their order. */
export function klogMessage({
  message,
  error,
  fields,
}: Pick<LogRecord, "message" | "error" | "fields">): string {
  const pairs = error === undefined ? fields : { err: messageOf(error), ...fields };
  const texts = Object.entries(pairs).map(([key, value]) => ` ${escapeGo(key)}=${valueText(value)}`);
  return quoteGo(message) + texts.join("");
}

/** A field's value as both log formats show it: bounded text; errors as their messages. */
export function loggedValue(value: unknown): unknown {
  if (value instanceof Error) return boundText(messageOf(value));
  if (typeof value === "string") return boundText(value);
  return value === undefined ? null : value;
}

function valueText(given: unknown): string {
  const value = loggedValue(given);
  if (typeof value === "string") return quoteGo(value);
  if (typeof value === "object") return jsonText(value);
  return ["number", "bigint", "boolean"].includes(typeof value) ? String(value) : "null";
}

/** Structures as Go's JSON encoder writes them, which also escapes `<`, `>` and `&`. Never throws. */
function jsonText(value: object | null): string {
  try {
    return escapeJson(JSON.stringify(value)).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
  } catch (error) {
    return quoteGo(`<internal error: ${messageOf(error)}>`);
  }
}
