import { execFileSync, spawnSync } from "node:child_process";
import { ROOT } from "./markdown";

const evaluate = (program: string): string =>
  execFileSync(process.execPath, ["--input-type=module", "--eval", program], { cwd: ROOT, encoding: "utf8" });

test("each figure with a unit is the constant that its page names, and each table is as its command wrote it", () => {
  const { stdout, status } = spawnSync(process.execPath, ["scripts/pages.mjs", "--check"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect([stdout, status]).toEqual(["", 0]);
});

test("a digit more in a figure with a comment, or in a measured or made table, is noticed, and a figure that names no constant", () => {
  const missed = evaluate(`
    import { readFileSync } from "node:fs";
    import { createLookup, PAGES, problemsOf } from "./scripts/pages.mjs";
    const read = (path) => readFileSync(path, "utf8");
    const sources = { lookup: createLookup(), measurements: read("docs/measurements.md") };
    // A digit more in each figure behind a comment, in a table of paces or costs, and in a measured table.
    const FIGURES = /(?<=<!--=[\\w.-]+-->)\\d|(?<=\\| )\\d(?=[\\d.]* (?:ms|s|min|h|MB|times) \\|)|(?<=figures: written by [^>]*-->\\s+Measured on )\\d/g;
    let tried = 0;
    for (const path of PAGES) {
      const page = read(path);
      for (const { index } of page.matchAll(FIGURES)) {
        tried += 1;
        const falsified = page.slice(0, index) + "7" + page.slice(index);
        if (problemsOf(path, falsified, sources).length === 0) console.log(path, page.slice(index - 40, index + 20));
      }
    }
    if (tried < 100) console.log("only", tried);
    if (problemsOf("x", "It waits for 7 s.", sources).length !== 1) console.log("a figure without a constant");
  `);
  expect(missed).toBe("");
});

test("a table older than what it measures is stale, and so is one whose command is unknown", () => {
  const cases = [
    ["npm run soak -- --x", { "bench/soak": "2026-11-08", src: "2026-12-01" }],
    ["npm run soak", { "bench/soak": "2026-11-09" }],
    ["npm run soak", { src: "2026-12-02" }],
    ["npm run other", {}],
  ];
  const stale = evaluate(`import { staleTables } from "./scripts/stale-figures.mjs";
    for (const [command, changed] of ${JSON.stringify(cases)}) {
      const table = "<!-- figures: written by " + command + " -->Measured on 2026-11-01<!-- end of figures abc -->";
      process.stdout.write(String(staleTables(table, (paths) => changed[paths[0]] ?? "2026-10-01").length));
    }`);
  expect(stale).toBe("0111");
});
