import { join } from "node:path";
import { anchorsIn, DOCUMENTS, isThere, linksIn, readText } from "./markdown";

const LINKS = DOCUMENTS.flatMap((document) =>
  linksIn(readText(document))
    .filter((link) => !link.startsWith("https://"))
    .map((link) => {
      const [file = "", anchor] = link.split("#");
      return { document, link, target: file === "" ? document : join(document, "..", file), anchor };
    }),
);

test.each(LINKS)("$document: $link leads somewhere", ({ target, anchor }) => {
  expect(isThere(target)).toBe(true);
  if (anchor !== undefined) expect(anchorsIn(readText(target))).toContain(anchor);
});

test("every document in docs/ can be found from its first page", () => {
  const linked = LINKS.filter(({ document }) => document === "docs/README.md").map(({ target }) => target);
  const others = DOCUMENTS.filter((path) => path.startsWith("docs/") && path !== "docs/README.md");
  expect(linked).toEqual(expect.arrayContaining(others));
});

test.each(DOCUMENTS)("%s links to no plain http, and to no heading twice of one name", (path) => {
  const text = readText(path);
  expect(linksIn(text).filter((link) => link.startsWith("http:"))).toEqual([]);
  const anchors = anchorsIn(text);
  expect(anchors).toEqual([...new Set(anchors)]);
});
