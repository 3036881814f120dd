/** What stands in one place of a table; printable, without line feeds. */
export type Cell = string;

const GAP = "  ";
const MIN_LAST_WIDTH = 30;

/** Rows under their headings, as kubectl prints them; the last column is wrapped where a width is given. */
export function renderColumns(
  headings: readonly Cell[],
  rows: readonly (readonly Cell[])[],
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

/** Words in lines of at most `width`; a longer word has a line of its own. */
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
