import { grid, withFigures } from "../../bench/figures";

const END = "<!-- end of figures -->";
const place = (command: string, figures: string) =>
  `<!-- figures: written by ${command} -->\n${figures}\n${END}\n`;

test("each command finds its own place, and the rest stays", () => {
  const page = `before\n${place("npm run one", "old")}between\n${place("npm run two", "old")}after\n`;
  const next = withFigures(page, "npm run two", "new\n");
  expect(next).toBe(
    `before\n${place("npm run one", "old")}between\n${place("npm run two", "\nnew\n")}after\n`,
  );
  expect(withFigures(next, "npm run two", "new")).toBe(next);
});

test.each([
  ["no beginning", `before\n${END}\n`],
  ["no end", `${END}\n<!-- figures: written by npm run one -->\n`],
])("a page with %s is refused", (_what, page) => {
  expect(() => withFigures(page, "npm run one", "new")).toThrow("no place for figures");
});

test("a grid is a Markdown table", () => {
  expect(grid(["a", "b"], [["1", "2"]])).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |");
});
