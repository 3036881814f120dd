import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./markdown";
import { NUMBERED, numbersIn, problemsOf } from "./numbers";

const textOf = (page: string) => readFileSync(join(ROOT, page), "utf8");

test.each(NUMBERED)("every number of %s has a source", (page) =>
  expect(problemsOf(page, textOf(page))).toEqual([]),
);

test("a number of a page that is changed is noticed, unless a comment names its constant or another test compares it", () => {
  let tried = 0;
  const missed = NUMBERED.flatMap((page) => {
    const text = textOf(page);
    return numbersIn(text).flatMap(({ index, length }) => {
      tried += 1;
      const number = text.slice(index, index + length);
      const other = number.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10));
      const changed = text.slice(0, index) + other + text.slice(index + length);
      const line = text.slice(text.lastIndexOf("\n", index - 1) + 1).split("\n", 1);
      return problemsOf(page, changed).length > 0 ? [] : [`${page}: ${number} in ${line}`];
    });
  });
  expect(missed).toEqual([]);
  expect(tried).toBeGreaterThan(300);
});
