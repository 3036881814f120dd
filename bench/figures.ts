import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A Markdown table. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const END = "<!-- end of figures -->";
const PAGES = ["docs/measurements.md", "bench/NOTES.md"].map((page) => join(__dirname, "..", page));

/** Replaces the figures that `command` writes, in the page that has a place for them. */
export function writeFigures(command: string, figures: string): void {
  const begin = `<!-- figures: written by ${command} -->`;
  const path = PAGES.find((one) => readFileSync(one, "utf8").includes(begin));
  if (path === undefined) throw new Error(`no page has a place for figures: ${begin}`);
  const page = readFileSync(path, "utf8");
  const end = page.indexOf(END, page.indexOf(begin));
  const head = page.slice(0, page.indexOf(begin) + begin.length);
  writeFileSync(path, `${head}\n\n${figures.trim()}\n\n${page.slice(end)}`);
}
