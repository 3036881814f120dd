/** The most characters of one value in a log line: kubelet's longest texts have hundreds. */
export const MAX_VALUE_LENGTH = 4_096;

/**
 * The text, or where it is longer than `max` its beginning, and its length: at most `max` characters with that, so that a
 * second bound changes nothing.
 */
export function boundText(text: string, max: number = MAX_VALUE_LENGTH): string {
  if (text.length <= max) return text;
  const mark = ` [cut, ${text.length} characters in all]`;
  // A slice by itself keeps the whole text in memory.
  const beginning = Buffer.from(text.slice(0, max - mark.length), "utf16le").toString("utf16le");
  return `${beginning}${mark}`;
}

/** The same value with each of its texts bounded, names of fields too. */
export function boundTexts<Value>(value: Value, max?: number): Value;
export function boundTexts(value: unknown, max?: number): unknown {
  if (typeof value === "string") return boundText(value, max);
  if (Array.isArray(value)) return value.map((one) => boundTexts(one, max));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [boundText(name, max), boundTexts(one, max)]),
  );
}
