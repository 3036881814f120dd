// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colors
const SGR = /\u001b\[[\d;]*m/g;
const lengthOf = (text: string) => text.replace(SGR, "").length;

/** Breaks a text into lines of at most `width` characters, without its colors; a longer word gets lines of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(...brokenPath(word, width));
  }
  return lines;
}

/** A path is broken behind its slashes if it is longer; a link is not, because a terminal opens it. */
function brokenPath(word: string, width: number): readonly string[] {
  if (word.includes("://")) return [word];
  const lines: string[] = [];
  for (const part of word.split(/(?<=\/)/)) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + lengthOf(part) <= width) lines[lines.length - 1] = last + part;
    else lines.push(part);
  }
  return lines;
}
