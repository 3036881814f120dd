import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(__dirname, "..", "..");

/** The files below a folder whose names end like this, by their paths in the project. */
export function filesBelow(folder: string, ending: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

export const DOCUMENTS: readonly string[] = [
  ...readdirSync(ROOT).filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md"),
  "test/kubelet/README.md",
  ...filesBelow("docs", ".md"),
];

/** A file of the project; a page without the comments that name the constants of its figures. */
export const readText = (path: string): string =>
  readFileSync(join(ROOT, path), "utf8").replaceAll(/<!--=[\w.-]+-->/g, "");
export const isThere = (path: string): boolean => existsSync(join(ROOT, path));

const FENCE = /^```(\w*)\n(.*?)^```$/gms;

export function fencesIn(text: string, language: string): readonly string[] {
  return Array.from(text.matchAll(FENCE))
    .filter(([, name]) => name === language)
    .map(([, , content = ""]) => content);
}

/** Whether a text has what a fence shows of it: pieces, in order, between lines with `…`. */
export function isShownBy(fence: string, text: string): boolean {
  const pieces = fence.split(/^…\n/m).map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pieces.join("(?:.*\n)+")}$`).test(text);
}

/** What stands in backticks, outside of fences; a line feed in it reads as a space. */
export function codeIn(text: string): readonly string[] {
  const spans = text.replace(FENCE, "").matchAll(/(`+)(.+?)\1(?!`)/gs);
  return Array.from(spans, ([, , code = ""]) => code.replace(/\s+/g, " ").trim());
}

export const codeOf = (cell = ""): string => codeIn(cell).join();

export function linksIn(text: string): readonly string[] {
  const links = text.replace(FENCE, "").matchAll(/\]\(([^)\s]+)\)/g);
  return Array.from(links, ([, target = ""]) => target);
}

/** The names by which a document's headings can be linked to, as GitHub makes them. */
export function anchorsIn(text: string): readonly string[] {
  const headings = text.replace(FENCE, "").matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

export function sectionOf(text: string, heading: string): string {
  const [, rest] = text.split(new RegExp(`^#+ ${heading}$`, "m"));
  if (rest === undefined) throw new Error(`there is no heading "${heading}"`);
  return rest.split(/^#+ /m)[0] ?? "";
}

export function rowsIn(text: string): readonly (readonly string[])[] {
  const tables = Array.from(text.matchAll(/(?:^\|.*\n?)+/gm), ([table]) => table.trimEnd().split("\n"));
  const cellsOf = (line: string) => line.split("|").slice(1, -1);
  return tables.flatMap((lines) => lines.slice(2).map((line) => cellsOf(line).map((cell) => cell.trim())));
}

/** The source of all modules in one text, in which strings that are joined over lines read as what they say. */
export const SOURCE: string = filesBelow("src", ".ts")
  .map(readText)
  .join("\n")
  .replace(/["`] \+\s+["`]/g, "");
