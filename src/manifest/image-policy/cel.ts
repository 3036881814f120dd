/** A text as a string of CEL, the language of the API server's policies. */
export const celText = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

export const celList = (texts: readonly string[]) => `[${texts.map(celText).join(", ")}]`;

/** A text as a regular expression that matches it only. */
export const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
