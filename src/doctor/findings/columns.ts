const GAP = "  ";
const MIN_LAST_WIDTH = 30;

/** Rows of printable cells under their headings, as kubectl prints them. A width, in characters, wraps the last column. */
export function renderColumns(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): readonly string[] {
  const last = headings.length - 1;
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const margin = widths.slice(0, last).reduce((sum, one) => sum + one + GAP.length, 0);
  const lastWidth = Math.max(MIN_LAST_WIDTH, width - margin);
  return [headings, ...rows].flatMap((row) => {
    const head = row
      .slice(0, last)
      .map((cell, column) => cell.padEnd(widths[column] ?? 0) + GAP)
      .join("");
    const [first = "", ...more] = wrap(row[last] ?? "", lastWidth);
    return [(head + first).trimEnd(), ...more.map((line) => " ".repeat(margin) + line)];
  });
}

/** Breaks a text into lines of at most `width` characters; a longer word gets a line of its own. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
