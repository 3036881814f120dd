/** A Markdown table. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const END = "<!-- end of figures -->";

/** The page with the figures replaced that `command` writes. Throws where it has no place for them. */
export function withFigures(page: string, command: string, figures: string): string {
  const begin = `<!-- figures: written by ${command} -->`;
  const at = page.indexOf(begin);
  const to = page.indexOf(END, at);
  if (at < 0 || to < 0) throw new Error(`the page has no place for figures: ${begin} to ${END}`);
  return `${page.slice(0, at + begin.length)}\n\n${figures.trim()}\n\n${page.slice(to)}`;
}
