import { parseResultTable, percent, replaceResults, resultTable, shareOf } from "./file-result";

const result = (file: string, noticed: number, mutants: number, equivalents = 0) => ({
  file,
  mutants,
  noticed,
  equivalents,
});
const ONE = result("src/a.ts", 9, 10, 2);
const OTHER = result("src/b.ts", 30, 30);

test("a table has a row for each file, and the sum", () => {
  expect(resultTable([OTHER, ONE])).toBe(
    [
      "| file | noticed | equivalent |",
      "| --- | --- | --- |",
      "| `src/a.ts` | 9 of 10 | 2 |",
      "| `src/b.ts` | 30 of 30 | 0 |",
      "| **all** | 39 of 40 | 2 |",
    ].join("\n"),
  );
});

test("a table can be read, and the results of some files be replaced", () => {
  const read = parseResultTable(resultTable([ONE, OTHER]));
  expect(read).toEqual([ONE, OTHER]);
  const better = result("src/a.ts", 10, 10, 2);
  expect(replaceResults(read, [better])).toEqual([OTHER, better]);
});

test.each([
  [[ONE, OTHER], 0.975, "97 %"],
  [[OTHER], 1, "100 %"],
  [[], Number.NaN, "NaN %"],
])("the share of %j is %d", (results, share, text) => {
  expect(shareOf(results)).toBe(share);
  expect(percent(share)).toBe(text);
});
