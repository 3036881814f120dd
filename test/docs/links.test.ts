import { join } from "node:path";
import { anchorsIn, codeIn, DOCUMENTS, filesBelow, isThere, linksIn, readText, SOURCE } from "./markdown";

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

/** Tests have the names of the map, too. */
const CODE = [SOURCE, ...filesBelow("test", ".ts").map(readText)].join();

test("every file and name of the code that a page gives exists", () => {
  const files = ["src", "test", "scripts", "bench", "examples"].flatMap((folder) => filesBelow(folder, ""));
  const isFile = (path: string) => isThere(path) || files.some((file) => file.endsWith(`/${path}`));
  const PATH = /^(?:bench|docs|examples|proto|scripts|src|test|\.ci|\.github)\/[\w./-]*$|^[\w/-]+\.ts$/;
  const named = DOCUMENTS.flatMap((document) =>
    codeIn(readText(document)).map((code) => ({ document, code })),
  );
  const paths = named.filter(({ code }) => PATH.test(code));
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter(({ code }) => !isFile(code))).toEqual([]);
  const names = named.filter(
    ({ document, code }) =>
      document === "CONTRIBUTING.md" && /^[a-z]+[A-Z]\w+$|^[A-Z][A-Za-z_]*[A-Z]\w+$/.test(code),
  );
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter(({ code }) => !new RegExp(`\\b${code}\\b`).test(CODE))).toEqual([]);
});
