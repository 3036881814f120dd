// What a node runs: a table of docs/security.md, which npm run pages writes from esbuild's record of what is in each part.
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = "docs/security.md";
const REGION = /(?<=<!-- closure: written by npm run pages -->\n).*?(?=<!-- end of closure -->)/s;

/** When a registration loads which parts. A row counts only what no earlier row has. */
const ROWS = [
  ["every registration", ["start", "main", "register", "cli-logger"]],
  ["with `--http-endpoint` or `--health-port`", ["diagnostics"]],
  ["an exec probe, `--mode=health-probe` or `ready-probe`", ["probe"]],
  ["with a pattern in `--csi-address`", ["node-wide"]],
  ["at the first scrape of `/metrics`", ["metrics"]],
  ["with `--logging-format=json`", ["json-line"]],
  ["with `--remove-startup-taint` or `--node-condition`", ["node-readiness"]],
  ["with these and KUBECONFIG", ["kubeconfig", "yaml"]],
];

/** The parts of a registration. */
export const OF_A_NODE = ROWS.flatMap(([, names]) => names);

/** The package whose file this is, without those around it. */
const PACKAGE = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/**
 * The table, of the parts by name: each with its `text`, and `inputs` as esbuild lists them. Rounded, so that it does not
 * change with every line.
 */
export function closureTable(parts) {
  const counted = new Set();
  const isNew = (name) => !counted.has(name) && counted.add(name);
  const rows = ROWS.map(([when, names]) => {
    const inputs = names.flatMap((name) => Object.entries(parts.get(name).inputs));
    const sources = inputs.map(([path]) => path).filter((path) => path.startsWith("src/") && isNew(path));
    const packages = inputs
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([path]) => PACKAGE.exec(path)?.[1] ?? [])
      .filter(isNew);
    const lines = sum(sources.map((path) => readFileSync(path, "utf8").split("\n").length - 1));
    const bytes = sum(names.map((name) => Buffer.byteLength(parts.get(name).text)));
    return [when, lines, bytes, packages.sort()];
  });
  const column = (at) => rows.map((row) => row[at]);
  const all = ["all of it", sum(column(1)), sum(column(2)), [`${column(3).flat().length} packages`]];
  const head = "| Loaded by | lines of `src` | kB | packages in it |\n| --- | --- | --- | --- |\n";
  return head + [...rows, all].map(written).join("");
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const written = ([when, lines, bytes, packages]) =>
  `| ${when} | ${Math.round(lines / 100) * 100} | ${Math.round(bytes / 10_000) * 10} | ${packages.join(", ") || "none"} |\n`;

/** Brings the page up to date. */
export function writeClosure(table) {
  const page = readFileSync(PAGE, "utf8");
  if (!REGION.test(page)) throw new Error(`${PAGE} has no place for the table of what a node runs`);
  writeFileSync(
    PAGE,
    page.replace(REGION, () => table),
  );
}
