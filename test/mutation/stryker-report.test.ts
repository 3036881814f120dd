import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../package/support/packed-package";
import { inOneLine } from "./equivalent";
import { EQUIVALENTS } from "./equivalents";
import { PURE_GROUPS } from "./pure-files";
import { readStrykerReport, type StrykerReport } from "./stryker-report";

const file = "src/x.ts";
const SOURCE = [
  "function min(a: number, b: number) {",
  "  if (a < b) {",
  "    return a;",
  "  }",
  "  return b;",
  "  return a satisfies never;",
  "}",
].join("\n");

const mutant = (line: number, columns: readonly [number, number], replacement: string, status: string) => ({
  mutatorName: "any",
  replacement,
  location: { start: { line, column: columns[0] }, end: { line, column: columns[1] } },
  status,
});
const reported = (...mutants: StrykerReport["files"][string]["mutants"]): StrykerReport => ({
  files: { [file]: { source: SOURCE, mutants } },
});
const equivalent = { file, from: "if (a < b) {", to: "if (a <= b) {", why: "they are equal then" };
const orEqual = (status: string) => mutant(2, [7, 12], "a <= b", status);
const results = (mutants: number, noticed: number, equivalents: number) => [
  { file, mutants, noticed, equivalents },
];

test("what was noticed counts, what could not be tried does not, and what survived is told by its lines", () => {
  const never = mutant(2, [7, 12], "false", "Survived");
  const statuses = ["Killed", "Timeout", "RuntimeError", "CompileError", "Ignored"];
  const report = reported(...statuses.map(orEqual), never, mutant(5, [3, 12], "", "NoCoverage"));
  const read = readStrykerReport(report, []);
  expect(read.files).toEqual(results(4, 2, 0));
  expect(read.survivors).toEqual([
    { file, line: 2, from: "if (a < b) {", to: "if (false) {" },
    { file, line: 5, from: "return b;", to: "" },
  ]);
});

test("a mutant over several lines is told in one", () => {
  const block = { ...mutant(2, [14, 0], "{}", "Survived") };
  const location = { start: { line: 2, column: 14 }, end: { line: 4, column: 4 } };
  const [survivor] = readStrykerReport(reported({ ...block, location }), []).survivors;
  expect(survivor).toMatchObject({ from: "if (a < b) { return a; }", to: "if (a < b) {}" });
});

test("a known equivalent counts apart, and is met; one that a test notices is not", () => {
  const survived = readStrykerReport(reported(orEqual("Survived")), [equivalent]);
  expect(survived).toEqual({ files: results(0, 0, 1), survivors: [], met: [equivalent] });
  const killed = readStrykerReport(reported(orEqual("Killed")), [equivalent]);
  expect(killed).toEqual({ files: results(1, 1, 0), survivors: [], met: [] });
});

test("what the compiler keeps from being reached is an equivalent", () => {
  const read = readStrykerReport(reported(mutant(6, [10, 11], "b", "NoCoverage")), []);
  expect(read).toMatchObject({ files: results(0, 0, 1), survivors: [] });
});

test.each(PURE_GROUPS.map(({ files, tests }) => [files.join(", "), files, tests] as const))(
  "%s: files and tests that are there",
  (_what, files, tests) => {
    for (const path of [...files, ...tests])
      expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  },
);

test("every equivalent is of a file that is mutated, and of lines that it has", () => {
  const mutated = PURE_GROUPS.flatMap(({ files }) => files);
  for (const { file, from, to } of EQUIVALENTS) {
    expect(mutated).toContain(file);
    expect(inOneLine(readFileSync(join(ROOT, file), "utf8"))).toContain(from);
    expect([from, to].map(inOneLine)).toEqual([from, to]);
  }
});
