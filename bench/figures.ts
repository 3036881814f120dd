/** A Markdown table. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const END = "<!-- end of figures -->";

/** The page with the figures replaced that `command` writes. Throws where it has no place for them. */
export function withFigures(page: string, command: string, figures: string): string {
  const { from, to } = placeOf(page, command);
  return `${page.slice(0, from)}\n\n${figures.trim()}\n\n${page.slice(to)}`;
}

/** The figures in a page that `command` wrote. Throws where it has no place for them. */
export function figuresIn(page: string, command: string): string {
  const { from, to } = placeOf(page, command);
  return page.slice(from, to).trim();
}

function placeOf(page: string, command: string): { readonly from: number; readonly to: number } {
  const begin = `<!-- figures: written by ${command} -->`;
  const at = page.indexOf(begin);
  const to = page.indexOf(END, at);
  if (at < 0 || to < 0) throw new Error(`the page has no place for figures: ${begin} to ${END}`);
  return { from: at + begin.length, to };
}
