import * as fc from "fast-check";
import { wrap } from "../../src/tools/wrap";
import { propertyTest } from "../support/fuzz";

const given = fc.record({
  words: fc.array(fc.stringMatching(/^[a-z]{1,9}$/)),
  width: fc.integer({ min: 1, max: 30 }),
});

propertyTest("a line is as long as it may be, and longer only for one word", { runs: 500, given }, (one) => {
  const { words, width } = one;
  const lines = wrap(words.join(" "), width);
  expect(lines.join(" ")).toBe(words.join(" "));
  for (const [at, line] of lines.entries()) {
    const next = lines[at + 1]?.split(" ")[0] ?? "x".repeat(width);
    expect(line.length <= width || !line.includes(" ")).toBe(true);
    expect(`${line} ${next}`.length).toBeGreaterThan(width);
  }
});

const paths = fc.record({
  before: fc.constantFrom("", "has ", "a socket at "),
  names: fc.array(fc.stringMatching(/^[a-z.]{1,9}$/), { minLength: 1, maxLength: 20 }),
  width: fc.integer({ min: 12, max: 30 }),
});

propertyTest(
  "a path is broken behind its slashes where it is too long",
  { runs: 500, given: paths },
  (one) => {
    const { before, names, width } = one;
    const text = `${before}/${names.join("/")}`;
    const lines = wrap(text, width);
    expect(lines.every(({ length }) => length <= width)).toBe(true);
    expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/\/$|^[a-z ]+$/);
  },
);

test("a link is not broken, so that a terminal opens it", () => {
  const link = "https://example.com/a/long/path";
  expect(wrap(`see ${link}`, 12)).toEqual(["see", link]);
});

test("a placeholder is not broken at its spaces", () => {
  expect(wrap("is {{ .Release.Name }}-node in {x} y", 12)).toEqual([
    "is",
    "{{ .Release.Name }}-node",
    "in {x} y",
  ]);
});
