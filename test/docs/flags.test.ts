import { flagTable } from "../../src/flags/table";
import { codeIn, codeOf, readText, rowsIn, sectionOf } from "./markdown";

const page = readText("docs/flags.md");
const { dropIn, ours, deprecated, removed } = flagTable;

test("the tables of flags name each flag with its default, in the order of the help", () => {
  const documented = rowsIn(sectionOf(page, "Flags")).map(([name, byDefault]) => [
    codeOf(name),
    byDefault === "none" ? "" : codeOf(byDefault),
  ]);
  const rows = Object.entries({ ...dropIn, ...ours, ...deprecated });
  expect(documented).toEqual(rows.map(([name, row]) => [`--${name}`, row.default]));
});

test.each(Object.keys(removed))("--%s is named among the flags that are ignored", (name) => {
  expect(codeIn(page)).toContain(`--${name}`);
});

test("every exit code has a row", () => {
  expect(rowsIn(sectionOf(page, "Exit codes")).map(([code]) => code)).toEqual(["0", "1", "2"]);
});
