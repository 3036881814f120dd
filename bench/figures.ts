import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A Markdown table. */
export function grid(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const END = /<!-- end of figures (?:\w+ )?-->/;
const PAGES = ["docs/measurements.md", "bench/NOTES.md"].map((page) => join(__dirname, "..", page));

/** Replaces the figures that `command` writes, in the page that has a place for them. */
export function writeFigures(command: string, figures: string): void {
  const begin = `<!-- figures: written by ${command} -->`;
  const path = PAGES.find((one) => readFileSync(one, "utf8").includes(begin));
  if (path === undefined) throw new Error(`no page has a place for figures: ${begin}`);
  const page = readFileSync(path, "utf8");
  const [head = "", former = ""] = page.split(begin);
  const end = END.exec(former);
  if (end === null) throw new Error(`${path}: the figures of ${command} have no end`);
  // `npm run pages -- --check` names a table with another checksum: its command did not write it.
  const sum = createHash("sha256").update(figures.trim()).digest("hex").slice(0, 8);
  const region = `${begin}\n\n${figures.trim()}\n\n<!-- end of figures ${sum} -->`;
  writeFileSync(path, head + region + former.slice(end.index + end[0].length));
}
