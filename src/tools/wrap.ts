// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colors
const SGR = /\u001b\[[\d;]*m/g;
const lengthOf = (text: string) => text.replace(SGR, "").length;

/** Breaks a text into lines of at most `width` characters, without its colors; a longer word gets a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
