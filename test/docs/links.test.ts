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

test("every link leads to a file, and to a heading that its file has once", () => {
  const leadsAstray = ({ target, anchor }: (typeof LINKS)[number]) =>
    !isThere(target) ||
    (anchor !== undefined && anchorsIn(readText(target)).filter((one) => one === anchor).length !== 1);
  expect(LINKS.length).toBeGreaterThan(100);
  expect(LINKS.filter(leadsAstray)).toEqual([]);
});

test("every document in docs/ can be found from its first page", () => {
  const linked = LINKS.filter(({ document }) => document === "docs/README.md").map(({ target }) => target);
  const others = DOCUMENTS.filter((path) => path.startsWith("docs/") && path !== "docs/README.md");
  expect(linked).toEqual(expect.arrayContaining(others));
});
