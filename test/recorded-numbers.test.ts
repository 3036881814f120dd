import { SOURCE } from "./docs/markdown";

/** `5_000`, `10 * 60_000`, `2 ** 31 - 1`, or the paces of a backoff. */
const VALUE = String.raw`(?:\d[\d_.]*n?(?: ?(?:\*\*|\*|\/|<<|-) ?[\d_.]+n?)*|\{ initialMs[^}]*\}|\[[\d_, ]+\])`;
/** A constant, a field or a default with a unit, and the default of an option. */
const NAMED = String.raw`\b(?:[A-Z][A-Z_\d]{2,}|[a-z]\w*(?:Ms|Bytes|Seconds|Frames|Connections|Rewrites|Port))`;
const NUMBER = new RegExp(
  String.raw`(?:${NAMED}(?:: number)? ?[=:] ?|\b\w+: (?=\{ initialMs)|\b\w+: optional\(.*, )${VALUE}(?=[;,)\s])`,
  "g",
);

// Who swaps one by mistake reads it in the difference: few tests wait for minutes, or fill megabytes.
test("each pace, limit and default is as it is recorded", () => {
  const code = SOURCE.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*/gm, "");
  const numbers = Array.from(code.matchAll(NUMBER), ([text]) => text).filter(
    (text) => !/[=:] ?0$/.test(text),
  );
  expect(numbers.length).toBeGreaterThan(200);
  expect(numbers.sort().join("\n")).toMatchSnapshot();
});
