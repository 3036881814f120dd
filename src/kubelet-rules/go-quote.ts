/** A string as Go's `%q` prints it, close enough for names and paths. */
export function goQuote(text: string): string {
  return JSON.stringify(text);
}

/** A list of strings as Go's `%q` prints it: `["1.0.0" "1.1"]`. */
export function goQuotedList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(" ")}]`;
}
