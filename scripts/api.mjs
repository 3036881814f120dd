// npm run api [-- FILE]: docs/api.md, every name that the package exports, each with a digest of its types as built, so that a
// change of the public surface is a changed line. With --without-text it lists the exports and members that an editor shows no
// text for.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ENTRIES = {
  registrar: "dist/index.d.ts",
  "registrar/testing": "dist/testing.d.ts",
  "registrar/node-readiness": "dist/node-readiness/index.d.ts",
};

/** What a module takes of other modules, or passes on: each with the name that it has here and there. */
function namesIn(module, statement) {
  const text = readFileSync(module, "utf8");
  const pattern = new RegExp(`^${statement} (?:type )?\\{([^}]*)\\} from "(\\.[^"]+)";`, "gm");
  return Array.from(text.matchAll(pattern), ([, names, from]) =>
    names
      .split(",")
      .filter((item) => item.trim() !== "")
      .map((item) => {
        const [declared, name = declared] = item
          .replace(/\btype\b/, "")
          .trim()
          .split(" as ");
        return { name, declared, file: `${join(dirname(module), from)}.d.ts` };
      }),
  ).flat();
}

/** Where and how a name is declared: the text with its comment, as the compiler wrote it; undefined where it is not. */
function find({ declared: name, file }) {
  const further = [...namesIn(file, "export"), ...namesIn(file, "import")].find((one) => one.name === name);
  if (further) return find(further);
  const lines = readFileSync(file, "utf8").split("\n");
  const isIt = new RegExp(
    `^(?:export )?(?:declare )?(?:interface|type|function|const|class) ${name.replace("$", "\\$")}\\b`,
  );
  const first = lines.findIndex((line) => isIt.test(line));
  if (first < 0) return undefined;
  let begin = first;
  if (lines[begin - 1]?.endsWith("*/"))
    do begin -= 1;
    while (!lines[begin].startsWith("/**"));
  // A declaration ends at the first line that ends it and is not inside of braces or comments.
  let end = first;
  while (!isComplete(lines.slice(first, end + 1).join("\n"))) end += 1;
  // Overloads of one name follow each other.
  while (lines[end + 1] !== undefined && isIt.test(lines[end + 1])) end += 1;
  return { file, text: lines.slice(begin, end + 1).join("\n") };
}

/** The declaration, and those of the names in it that are not exported. */
function declarationsOf(one, seen) {
  const found = find(one);
  if (found === undefined) return [];
  seen.add(`${found.file} ${found.text}`);
  const words = new Set(codeOf(found.text).match(/\b[A-Z]\w+\b/g));
  const parts = Array.from(words, (declared) => find({ declared, file: found.file })).filter(
    (part) => part !== undefined && !exported.has(part.text) && !seen.has(`${part.file} ${part.text}`),
  );
  for (const part of parts) seen.add(`${part.file} ${part.text}`);
  const inThem = parts.flatMap(({ file, text }) => {
    const declared = /\b(?:interface|type|function|const|class) (\w+)/.exec(codeOf(text))?.[1];
    return declarationsOf({ declared, file }, seen);
  });
  return [found.text, ...inThem];
}

/** Without comments; a string in a type may be one of its values. */
const typesOf = (text) =>
  text
    .replace(/\/\*.*?\*\/|("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/gs, "$1")
    .replace(/import\("[^"]*"\)\./g, "");
const codeOf = (text) => typesOf(text).replace(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, '""');

function isComplete(text) {
  const code = codeOf(text);
  const depth = Array.from(code).reduce(
    (sum, sign) => sum + ("{([".includes(sign) ? 1 : "})]".includes(sign) ? -1 : 0),
    0,
  );
  const isBlock = /^(?:export )?(?:declare )?(?:interface|class) /.test(code);
  return depth === 0 && (isBlock ? /\}\s*$/ : /;\s*$/).test(code);
}

const all = Object.values(ENTRIES).flatMap((entry) => namesIn(entry, "export"));
for (const { name, declared, file } of all)
  if (!find({ declared, file })) throw new Error(`${file} does not declare ${name}`);
const exported = new Set(all.map((one) => find(one).text));

/** A type's name is not where it was declared: it may move from file to file. */
const digestOf = (one) =>
  createHash("sha256")
    .update(typesOf(declarationsOf(one, new Set()).sort().join("\n")).replace(/\s+/g, " "))
    .digest("hex")
    .slice(0, 4);

/** An export, or a member of an interface, without a comment that begins with two asterisks; a constant says itself. */
function withoutText({ name, ...where }) {
  const { text } = find({ name, ...where });
  const lines = text.split("\n");
  const members = lines.filter(
    (line, index) =>
      /^ {4}(?:readonly )?[\w[]/.test(line) && !/: "[^"]*";$/.test(line) && !lines[index - 1].endsWith("*/"),
  );
  const undocumented = members.map((line) => /^ {4}(?:readonly )?([\w.[\]]+)/.exec(line)[1]);
  return [
    ...(text.startsWith("/**") ? [] : [name]),
    ...(/^(?:export )?(?:declare )?interface /m.test(codeOf(text))
      ? undocumented.map((one) => `${name}.${one}`)
      : []),
  ];
}

/** Names that an earlier section has. */
const listed = new Set();
const sections = Object.entries(ENTRIES).map(([name, entry]) => {
  const declared = namesIn(entry, "export")
    .filter((one) => !listed.has(one.name))
    .sort((a, b) => a.name.localeCompare(b.name, "en"));
  for (const one of declared) listed.add(one.name);
  return `## ${name}\n\n${declared.map((one) => `- ${one.name} ${digestOf(one)}\n`).join("")}`;
});
const head = `# API

Every exported name; your editor shows what each is, and [As a library](library.md) how to use it. \`registrar/grpc\` has grpc-js' names.
\`npm run api\` writes this page, with a digest of each name's types, so that a commit shows a change of them.
`;
const [file = "docs/api.md"] = process.argv.slice(2);
if (file === "--without-text") process.stdout.write(`${all.flatMap(withoutText).join("\n")}\n`);
else writeFileSync(file, [head, ...sections].join("\n"));
