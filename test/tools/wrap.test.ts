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
