import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DOCUMENTS, ROOT, readText } from "./markdown";

// A figure with a unit in the README and the pages was measured by a command that wrote it into a table, or is a constant of
// the code. All others go stale unseen, unless another program has them.

/** Figures that other programs and standards have, with where they are from. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  "50Mi": "the limit that Mayastor's chart fixes",
  "128 kB": "what a Node socket and its pipe hold before they are paused (test/grpc/server/bytes.test.ts)",
};

const GENERATED = /<!-- (\S+): written by .*?<!-- end of \1 -->/gs;
const FENCE = /^\s*```.*?^\s*```$/gms;
const UNITS = "ms|s|seconds?|min|minutes?|h|hours?|bytes|kB|KiB|MB|MiB|GiB|Mi|Gi|m|%";
const FIGURE = new RegExp(
  `(?<![\\w.,/-])(\\d[\\d,]*(?:\\.\\d+)?)(?: (?:to|or|and) (\\d+(?:\\.\\d+)?))? ?(${UNITS})(?![\\w.%-]*\\w)`,
  "g",
);

const SCALE: Readonly<Record<string, readonly [kind: string, factor: number]>> = {
  ms: ["time", 1],
  s: ["time", 1_000],
  min: ["time", 60_000],
  h: ["time", 3_600_000],
  bytes: ["size", 1],
  kB: ["size", 1_000],
  KiB: ["size", 1_024],
  MB: ["size", 1_000_000],
  MiB: ["size", 2 ** 20],
  Mi: ["size", 2 ** 20],
  GiB: ["size", 2 ** 30],
  Gi: ["size", 2 ** 30],
  m: ["cpu", 1],
  "%": ["share", 1],
};
const LONG: Readonly<Record<string, string>> = { second: "s", minute: "min", hour: "h" };
const unitOf = (unit: string) => LONG[unit.replace(/s$/, "")] ?? unit;

const rounded = (size: number) => Number(size.toPrecision(6));

/** Each figure of a text by its kind and size, such as `time 30000`. */
function figuresIn(text: string): ReadonlyMap<string, string> {
  const found = Array.from(text.matchAll(FIGURE)).flatMap(([words, one = "", other, unit = ""]) => {
    const [kind, factor] = SCALE[unitOf(unit)] ?? ["", 1];
    return [one, other ?? one].map((digits): [string, string] => {
      const size = Number(digits.replaceAll(",", "")) * factor;
      return [`${kind} ${rounded(size)}`, words];
    });
  });
  return new Map(found);
}

/** What the written tables have: a number counts with the units of its cell, and of its column's head. */
function figuresInTables(text: string): readonly string[] {
  const blocks = Array.from(text.matchAll(GENERATED), ([block]) => block);
  return blocks.flatMap((block) => {
    const found = [...figuresIn(block.replaceAll("**", "")).keys()];
    const units = new Set(
      Array.from(block.matchAll(/[ (](ms|s|seconds|MB|kB)\b/g), ([, unit = ""]) => unitOf(unit)),
    );
    const numbers = Array.from(block.matchAll(/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g), ([digits]) => digits);
    return [
      ...found,
      ...[...units].flatMap((unit) =>
        numbers.flatMap((digits) => [...figuresIn(`${digits} ${unit}`).keys()]),
      ),
    ];
  });
}

/** Constants of the code: durations on lines that say so, sizes, and figures in its texts. */
function figuresInSource(): readonly string[] {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const lines = files
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => readText(join("src", name)).split("\n"));
  return lines.flatMap((line) => {
    const texts = Array.from(line.matchAll(/["`'][^"`']*["`']/g), ([text]) => text.slice(1, -1));
    const code = line.replace(/^\s*\*.*|\/\/.*$/, "").replace(/["`'][^"`']*["`']/g, "");
    const sums = Array.from(code.matchAll(/\d[\d_]*(?:\.\d+)?(?: \*\*? \d[\d_]*)*/g), ([sum]) =>
      productOf(sum),
    );
    const isAbout = (pattern: RegExp, ...figures: readonly string[]) => (pattern.test(code) ? figures : []);
    return [
      ...texts.flatMap((text) => [...figuresIn(text).keys()]),
      ...sums.flatMap((sum) => [
        ...isAbout(/M[sS]\b|_MS|Millis|[Pp]aces/, `time ${rounded(sum)}`),
        ...isAbout(/_SECONDS|[sS]econds/, `time ${rounded(sum * 1_000)}`),
        // A page says kB for 1,024 bytes, too, where other programs do.
        ...isAbout(/[Bb]ytes|BYTES|LENGTH/, `size ${rounded(sum)}`, `size ${rounded((sum / 1_024) * 1_000)}`),
        ...isAbout(/\b[cC]pu|CPU/, `cpu ${rounded(sum)}`),
      ]),
    ];
  });
}

function productOf(sum: string): number {
  const factors = sum.replaceAll("_", "").replaceAll(" ** ", "^").split(" * ");
  const power = (factor: string) =>
    factor
      .split("^")
      .map(Number)
      .reduceRight((high, low) => low ** high);
  return factors.map(power).reduce((product, factor) => product * factor, 1);
}

const ALERTS = readText("examples/alerts.yaml").replaceAll(/(\d)m\b/g, "$1 min");

const known = new Set([
  ...figuresIn(ALERTS).keys(),
  ...figuresInSource(),
  ...["docs/measurements.md", "bench/NOTES.md"].flatMap((page) => figuresInTables(readText(page))),
  ...Object.keys(OF_OTHERS).flatMap((figure) => [...figuresIn(figure).keys()]),
]);

test("every figure of the pages is measured by a command, a constant of the code, or another program's", () => {
  const pages = DOCUMENTS.filter((path) => path === "README.md" || path.startsWith("docs/"));
  const unknown = pages.flatMap((path) => {
    const text = readText(path)
      .replace(GENERATED, "")
      .replace(FENCE, "")
      .replace(/`[^`\n]*`/g, "")
      .replace(/\]\([^)]*\)/g, "]");
    return Array.from(figuresIn(text))
      .filter(([figure]) => !known.has(figure))
      .map(([, words]) => `${path}: ${words}`);
  });
  expect(unknown).toEqual([]);
});

test("a table that is older than what it measures is stale, also if nobody says what that is", () => {
  const table = (command: string) =>
    `<!-- figures: written by ${command} -->Measured on 2026-11-01<!-- end of figures -->`;
  const staleTables = (command: string, changed: string) =>
    execFileSync(
      process.execPath,
      [
        "--input-type=module",
        "--eval",
        `import { staleTables } from "./scripts/stale-figures.mjs";
        console.log(staleTables(${JSON.stringify(table(command))}, (paths) => ({ ${changed} })[paths[0]] ?? "2026-10-01").length)`,
      ],
      { cwd: ROOT, encoding: "utf8" },
    ).trim();
  expect(staleTables("npm run soak -- --x", '"bench/soak": "2026-11-08", src: "2026-12-01"')).toBe("0");
  expect(staleTables("npm run soak", '"bench/soak": "2026-11-09"')).toBe("1");
  expect(staleTables("npm run soak", 'src: "2026-12-02"')).toBe("1");
  expect(staleTables("npm run other", "")).toBe("1");
});
