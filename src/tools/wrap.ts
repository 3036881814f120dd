// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colors
const SGR = /\u001b\[[\d;]*m/g;
const lengthOf = (text: string) => text.replace(SGR, "").length;

/**
 * Breaks a text into lines of at most `width` characters, without its colors. A longer word gets lines of its own: a path is broken
 * behind its slashes; a link is not, because a terminal opens it.
 */
export const wrap = (text: string, width: number): readonly string[] =>
  fill(text.split(WORD_END), " ", width, (word) =>
    word.includes("://") ? [word] : fill(word.split(/(?<=\/)/), "", width),
  );

/** A placeholder is one word. */
const WORD_END = / (?![^{}]{0,100}\}\})/;

/** Puts each part behind the one before it where it fits, else on lines of its own. */
function fill(
  parts: readonly string[],
  between: string,
  width: number,
  linesOf = (part: string): readonly string[] => [part],
): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const longer = `${last}${between}${part}`;
    if (last !== undefined && lengthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(...linesOf(part));
  }
  return lines;
}
