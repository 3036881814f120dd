// npm run charts [-- FILE]: the table of docs/charts.md, from src/tools/doctor/manifest/read/charts.json. With --newest it compares the
// rows of that file, or of the FILE, with the newest charts.
import { readFileSync, writeFileSync } from "node:fs";
import { compareCharts } from "./newest-charts.mjs";

const PAGE = "docs/charts.md";
const DATA = "src/tools/doctor/manifest/read/charts.json";
const HEAD =
  "| Chart, version | Image | Arguments, environment, limits | Notes |\n| --- | --- | --- | --- |\n";

const words = process.argv.slice(2);
const isComparison = words[0] === "--newest";
const rows = JSON.parse(readFileSync((isComparison && words[1]) || DATA, "utf8"));
const codeOf = (key) => (/[` ]/.test(key) ? key : `\`${key}\``);

function cellsOf({ chart, source, version, date, image, how, needs, off, note, ...keys }) {
  const [repository, path] = source.split(" ");
  const others = ["arguments", "environment", "resources"].filter((key) => keys[key] !== undefined);
  const notes = [
    off && `Off by \`${off}\``,
    note,
    needs && `To render it, set \`${needs}\``,
    how === "read" && "Only read",
  ];
  return [
    `[${chart}](https://github.com/${repository}) ${version} of ${date}, \`${path}\``,
    codeOf(image),
    others.map((key) => `${key}: ${codeOf(keys[key])}`).join("; ") || "-",
    notes.filter(Boolean).join(". "),
  ];
}

function writeTable(file = PAGE) {
  const table = HEAD + rows.map((row) => `| ${cellsOf(row).join(" | ")} |\n`).join("");
  const [above, below] = readFileSync(PAGE, "utf8").split(/^\| Chart, version \|.*\n(?:\|.*\n)*/m);
  if (below === undefined) throw new Error(`${PAGE} has no table of charts`);
  writeFileSync(file, above + table + below);
}

if (isComparison) process.exitCode = await compareCharts(rows);
else writeTable(words[0]);
