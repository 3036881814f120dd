import type { Finding, Table, Verdict } from "./measure";

const BEGIN = "<!-- figures: written by npm run bench -->";
const END = "<!-- end of figures -->";

/** A finding as Markdown. */
export function findingText({ tables, skipped = [] }: Finding): string {
  return [...tables.map(tableText), ...skipped.map((reason) => `Left out: ${reason}.`)].join("\n\n");
}

function tableText({ title, head, rows, note }: Table): string {
  const text = `### ${capitalised(title)}\n\n${grid(head, rows)}`;
  return note === undefined ? text : `${text}\n\n${note}`;
}

/** Each budget, and whether it is met, in plain words. */
export function verdictText(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ what, budget, measured, isMet }) => [
    what,
    budget,
    measured,
    isMet ? "met" : "**missed**",
  ]);
  return `### Budgets\n\n${grid(["", "budget", "measured", ""], rows)}`;
}

/** The page with its figures replaced. Throws where it has no place for them. */
export function withFigures(page: string, figures: string): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the page has no place for figures: ${BEGIN} to ${END}`);
  return `${page.slice(0, from)}${BEGIN}\n\n${figures.trim()}\n\n${page.slice(to)}`;
}

function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
