/**
 * What Go's `strconv.IsPrint` rejects: control and format characters (so also terminal escapes, bidirectional
 * overrides and the line separators that some log viewers honour), every space but the plain one, lone surrogates.
 * A function, because compiling these classes takes milliseconds, and plain ASCII text does not need them.
 */
const unprintable = () => /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** The most characters of one value in a log line or on a page: peers may send megabytes, kubelet's texts have hundreds. */
export const MAX_VALUE_LENGTH = 4_096;

/** Go's escapes of the control characters 7 to 13. */
const CONTROL_ESCAPES = ["\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r"];

/** The text with Go's escapes, but with its quotes: it starts no new line and controls no terminal. */
export const plain = (text: string): string => printable(text.replaceAll("\\", "\\\\"));

/** The same, but with its backslashes: a text without other escapes stays as it is. */
export const printable = (text: string): string =>
  /^[ -~]*$/.test(text) ? text : text.replace(unprintable(), escapeCodePoint);

/** The text as the inside of a Go string literal. */
export const escapeGo = (text: string): string => plain(text).replaceAll('"', '\\"');

/** The text as Go's `%q` prints it. A lone surrogate, which Go strings cannot hold, becomes `\ud800`. */
export const quoteGo = (text: string): string => `"${escapeGo(text)}"`;

/** A list as Go's `%q` prints it: `["1.0.0" "1.1"]`. */
export const quoteGoList = (texts: readonly string[]): string => `[${texts.map(quoteGo).join(" ")}]`;

/**
 * The same JSON with unprintable characters escaped, except line feeds. `JSON.stringify` leaves DEL, C1 controls, format
 * characters and U+2028 as they are.
 */
export function escapeJson(json: string): string {
  if (/^[ -~\n]*$/.test(json)) return json;
  return json.replace(unprintable(), (character) =>
    character === "\n" ? character : character.split("").map(escapeUnit).join(""),
  );
}

/** The text, or its beginning and a note of its length, together `max` characters: a second bound changes nothing. */
export function boundText(text: string, max: number = MAX_VALUE_LENGTH): string {
  if (text.length <= max) return text;
  const mark = ` [cut, ${text.length} characters in all]`;
  // A slice by itself keeps the whole text in memory.
  return `${Buffer.from(text.slice(0, max - mark.length), "utf16le").toString("utf16le")}${mark}`;
}

/** The same value with each text and field name bounded. */
export function boundTexts<Value>(value: Value, max?: number): Value;
export function boundTexts(value: unknown, max?: number): unknown {
  if (typeof value === "string") return boundText(value, max);
  if (Array.isArray(value)) return value.map((one) => boundTexts(one, max));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [boundText(name, max), boundTexts(one, max)]),
  );
}

/** The text as one line that controls no terminal. */
export const escapeUnprintable = (text: string): string => escapeJson(text).replaceAll("\n", "\\n");

/** The text in quotes for a message to a person: bounded, one line that controls no terminal. */
export const quoteText = (text: string): string => escapeJson(JSON.stringify(boundText(text)));

function escapeCodePoint(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  const short = CONTROL_ESCAPES[codePoint - 7];
  if (short !== undefined) return short;
  if (codePoint < 0x80) return `\\x${hex(codePoint, 2)}`;
  return codePoint > 0xffff ? `\\U${hex(codePoint, 8)}` : escapeUnit(character);
}

const escapeUnit = (unit: string) => `\\u${hex(unit.charCodeAt(0), 4)}`;

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
