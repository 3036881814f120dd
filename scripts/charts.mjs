// npm run charts [-- FILE]: the table of docs/charts.md, from src/doctor/manifest/read/charts.json.
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = "docs/charts.md";
const HEAD =
  "| Chart, version | Image | Arguments, environment, limits | Notes |\n| --- | --- | --- | --- |\n";

const rows = JSON.parse(readFileSync("src/doctor/manifest/read/charts.json", "utf8"));
const codeOf = (key) => (/[` ]/.test(key) ? key : `\`${key}\``);

function cellsOf({ chart, source, version, image, how, needs, off, note, ...keys }) {
  const [repository, path] = source.split(" ");
  const others = ["arguments", "environment", "resources"].filter((key) => keys[key] !== undefined);
  const notes = [
    off && `Off by \`${off}\``,
    note,
    needs && `To render it, set \`${needs}\``,
    how === "read" && "Only read",
  ];
  return [
    `[${chart}](https://github.com/${repository}) ${version}, \`${path}\``,
    codeOf(image),
    others.map((key) => `${key}: ${codeOf(keys[key])}`).join("; ") || "-",
    notes.filter(Boolean).join(". "),
  ];
}

const table = HEAD + rows.map((row) => `| ${cellsOf(row).join(" | ")} |\n`).join("");
const page = readFileSync(PAGE, "utf8");
const [above, below] = page.split(/^\| Chart, version \|.*\n(?:\|.*\n)*/m);
if (below === undefined) throw new Error(`${PAGE} has no table of charts`);
const [file = PAGE] = process.argv.slice(2);
writeFileSync(file, above + table + below);
