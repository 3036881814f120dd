import { execFileSync } from "node:child_process";
import { DOCUMENTS, filesBelow, ROOT, readText } from "./markdown";

// A figure with a unit in the README and the pages was measured by a command that wrote it into a table, or is a constant of
// the code. All others go stale unseen, unless another program has them.

/** Figures that other programs have, with where they are from. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  "50Mi": "the limit that Mayastor's chart fixes",
  "128 kB": "what a Node socket and its pipe hold before they are paused (test/grpc/server/bytes.test.ts)",
};

const GENERATED = /<!-- (\S+): written by .*?<!-- end of \1 -->/gs;
const NO_PROSE = /<!-- (\S+): written by .*?<!-- end of \1 -->|^\s*```.*?^\s*```$|`[^`\n]*`|\]\([^)]*\)/gms;

const UNITS: Readonly<Record<string, readonly [kind: string, factor: number]>> = {
  ...{ ms: ["time", 1], s: ["time", 1e3], second: ["time", 1e3], min: ["time", 6e4], minute: ["time", 6e4] },
  ...{ h: ["time", 36e5], hour: ["time", 36e5], byte: ["size", 1], kB: ["size", 1e3], MB: ["size", 1e6] },
  ...{ KiB: ["size", 2 ** 10], MiB: ["size", 2 ** 20], Mi: ["size", 2 ** 20], GiB: ["size", 2 ** 30] },
  ...{ m: ["cpu", 1], "%": ["share", 1] },
};
const NAMES = `(${Object.keys(UNITS).join("|")})s?`;
const FIGURE = new RegExp(
  `(?<![\\w.,/-])(\\d[\\d,]*(?:\\.\\d+)?)(?: (?:to|and) (\\d+(?:\\.\\d+)?))? ?${NAMES}(?![\\w-])`,
  "g",
);

/** A figure by its kind and size, such as `time 30000`. */
const figure = (kind: string, size: number) => `${kind} ${Number(size.toPrecision(6))}`;

/** Each figure of a text, with the words that say it. */
function figuresIn(text: string): ReadonlyMap<string, string> {
  const found = Array.from(text.matchAll(FIGURE)).flatMap(([words, one = "", other = one, unit = ""]) => {
    const [kind, factor] = UNITS[unit] ?? ["", 1];
    const sizes = [one, other].map((digits) => Number(digits.replaceAll(",", "")) * factor);
    return sizes.map((size): [string, string] => [figure(kind, size), words]);
  });
  return new Map(found);
}

/** What the written tables have: a table's numbers count with each of its units, because the unit may be in a column's head. */
function figuresInTables(text: string): readonly string[] {
  return Array.from(text.matchAll(GENERATED)).flatMap(([table]) => {
    const units = new Set(Array.from(table.matchAll(/[ (](ms|second|s|MB)s?\b/g), ([, unit]) => unit));
    const numbers = table.match(/(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g) ?? [];
    const pairs = [...units].flatMap((unit) => numbers.map((digits) => `${digits} ${unit}`));
    return [...figuresIn([table, ...pairs].join("\n")).keys()];
  });
}

/** Constants of the code: durations, sizes and CPU on lines that name them so, and figures in its texts. */
function figuresInSource(): readonly string[] {
  const lines = filesBelow("src", ".ts").flatMap((path) => readText(path).split("\n"));
  return lines.flatMap((line) => {
    const texts = line.match(/["`'][^"`']*["`']/g) ?? [];
    const code = line.replace(/^\s*\*.*|\/\/.*$/, "").replace(/["`'][^"`']*["`']/g, "");
    const products = code.match(/\d[\d_]*(?:\.\d+)?(?: \*\*? \d[\d_]*)*/g) ?? [];
    const isAbout = (pattern: RegExp, ...figures: readonly string[]) => (pattern.test(code) ? figures : []);
    return [
      ...figuresIn(texts.map((text) => text.slice(1, -1)).join("\n")).keys(),
      ...products.map(productOf).flatMap((size) => [
        ...isAbout(/M[sS]\b|_MS|Millis|[Pp]aces/, figure("time", size)),
        ...isAbout(/_SECONDS|[sS]econds/, figure("time", size * 1e3)),
        // A page says kB for 1,024 bytes, too, where other programs do.
        ...isAbout(/[Bb]ytes|BYTES|LENGTH/, figure("size", size), figure("size", (size / 1_024) * 1e3)),
        ...isAbout(/\b[cC]pu|CPU/, figure("cpu", size)),
      ]),
    ];
  });
}

function productOf(text: string): number {
  const factors = text.replaceAll("_", "").replaceAll(" ** ", "^").split(" * ");
  const powers = factors.map((factor) => factor.split("^").map(Number));
  return powers.reduce((product, [base = 1, exponent = 1]) => product * base ** exponent, 1);
}

test("every figure of the pages is measured by a command, a constant of the code, or another program's", () => {
  const alerts = readText("examples/alerts.yaml").replaceAll(/(\d)m\b/g, "$1 min");
  const known = new Set([
    ...figuresInSource(),
    ...["docs/measurements.md", "bench/NOTES.md"].flatMap((page) => figuresInTables(readText(page))),
    ...figuresIn([alerts, ...Object.keys(OF_OTHERS)].join("\n")).keys(),
  ]);
  const pages = DOCUMENTS.filter((path) => path === "README.md" || path.startsWith("docs/"));
  const figures = pages.flatMap((path) => {
    const found = figuresIn(readText(path).replace(NO_PROSE, ""));
    return Array.from(found, ([size, words]) => ({ size, says: `${path}: ${words}` }));
  });
  expect(figures.length).toBeGreaterThan(50);
  expect(figures.filter(({ size }) => !known.has(size)).map(({ says }) => says)).toEqual([]);
});

test("a table that is older than what it measures is stale, also if nobody says what that is", () => {
  const cases = [
    ["npm run soak -- --x", { "bench/soak": "2026-11-08", src: "2026-12-01" }],
    ["npm run soak", { "bench/soak": "2026-11-09" }],
    ["npm run soak", { src: "2026-12-02" }],
    ["npm run other", {}],
  ];
  const program = `import { staleTables } from "./scripts/stale-figures.mjs";
    for (const [command, changed] of ${JSON.stringify(cases)}) {
      const table = "<!-- figures: written by " + command + " -->Measured on 2026-11-01<!-- end of figures -->";
      process.stdout.write(String(staleTables(table, (paths) => changed[paths[0]] ?? "2026-10-01").length));
    }`;
  const words = ["--input-type=module", "--eval", program];
  expect(execFileSync(process.execPath, words, { cwd: ROOT, encoding: "utf8" })).toBe("0111");
});
