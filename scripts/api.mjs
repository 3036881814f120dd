// npm run api [-- FILE]: docs/api.md, every name that the package exports, with its types and what is said of it. From the
// built declarations, so that the page is what an editor shows, and a change of the public surface is a change of it.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ENTRIES = { registrar: "dist/index.d.ts", "registrar/testing": "dist/testing.d.ts" };

/** What a module exports of other modules: each with the name that it has here and there. */
function exportsOf(module) {
  const text = readFileSync(module, "utf8");
  return Array.from(text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm), ([, names, from]) =>
    names
      .split(",")
      .filter((item) => item.trim() !== "")
      .map((item) => {
        const [there, name = there] = item
          .replace(/\btype\b/, "")
          .trim()
          .split(" as ");
        return { name, there, file: `${join(dirname(module), from)}.d.ts` };
      }),
  ).flat();
}

/** A declaration with its comment, as the compiler wrote it. */
function declarationOf({ there: name, file }) {
  const further = exportsOf(file).find((one) => one.name === name);
  if (further) return declarationOf(further);
  const lines = readFileSync(file, "utf8").split("\n");
  const isIt = new RegExp(`^export (?:declare )?(?:interface|type|function|const|class) ${name}\\b`);
  const first = lines.findIndex((line) => isIt.test(line));
  if (first < 0) throw new Error(`${file} does not declare ${name}`);
  let begin = first;
  if (lines[begin - 1]?.endsWith("*/"))
    do begin -= 1;
    while (!lines[begin].startsWith("/**"));
  // A declaration ends at the first line that ends it and is not inside of braces or comments.
  let end = first;
  while (!isComplete(lines.slice(first, end + 1).join("\n"))) end += 1;
  // Overloads of one name follow each other.
  while (lines[end + 1] !== undefined && isIt.test(lines[end + 1])) end += 1;
  return lines.slice(begin, end + 1).join("\n");
}

function isComplete(text) {
  const code = text.replace(/\/\*.*?\*\//gs, "").replace(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, '""');
  const depth = Array.from(code).reduce(
    (sum, sign) => sum + ("{([".includes(sign) ? 1 : "})]".includes(sign) ? -1 : 0),
    0,
  );
  return depth === 0 && /[;}]\s*$/.test(code);
}

/** What both export is told once. */
const told = new Set();
const sections = Object.entries(ENTRIES).map(([name, entry]) => {
  const declared = exportsOf(entry)
    .filter((one) => !told.has(one.name))
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
  for (const one of declared) told.add(one.name);
  const items = declared.map((one) => `### ${one.name}\n\n\`\`\`typescript\n${declarationOf(one)}\n\`\`\`\n`);
  return `## ${name}\n\n${items.join("\n")}`;
});
const head = `# API

Every name that the package exports. \`npm run api\` writes this page from the built declarations; a test fails where it is
not what is built. [As a library](library.md) and [Testing a driver](testing.md) show how to use it.
`;
const [file = "docs/api.md"] = process.argv.slice(2);
writeFileSync(file, [head, ...sections].join("\n"));
