import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { flagTable } from "../src/cli/flags";
import { hintForRefusal, KUBELET_ROOTS } from "../src/registrar/registration/hints";

const root = join(__dirname, "..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const { dropIn, ours, deprecated, removed } = flagTable;

/** The rows of the tables under a heading, as cells. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = readme.split(`# ${heading}\n`);
  const [text = ""] = section.split("\n#");
  return text
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** What stands in backticks in a cell. */
const codeIn = (cell = "") => Array.from(cell.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);

test("the tables of flags name each flag with its default, in the order of the help", () => {
  const documented = rowsUnder("Flags").map(([name, byDefault]) => [
    codeIn(name).join(),
    byDefault === "none" ? "" : codeIn(byDefault).join(),
  ]);
  const rows = Object.entries({ ...dropIn, ...ours, ...deprecated });
  expect(documented).toEqual(rows.map(([name, row]) => [`--${name}`, row.default]));
});

test.each(Object.keys(removed))("--%s is named among the flags that are ignored", (name) => {
  expect(readme).toContain(`\`--${name}\``);
});

describe("troubleshooting", () => {
  // A text that is put together over two lines reads as what it says.
  const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, "src", name), "utf8"))
    .join("\n")
    .replace(/" \+\s+"/g, "");
  const messagesUnder = (heading: string) => rowsUnder(heading).flatMap(([message]) => codeIn(message));

  test.each(messagesUnder("Troubleshooting"))("the source says: %s", (message) => {
    for (const piece of message.split("…")) expect(source).toContain(piece.trim());
  });

  test.each(messagesUnder("What kubelet says when it refuses a driver"))(
    "there is a hint for: %s",
    (text) => {
      expect(hintForRefusal(text, "/csi.sock")).toBeDefined();
    },
  );
});

test("the kubelet root directories are those of the hints", () => {
  for (const folder of Object.values(KUBELET_ROOTS)) expect(readme).toContain(`\`${folder}\``);
});

test.each(Array.from(readme.matchAll(/\]\((?!http)([^)#]+)\)/g), ([, path = ""]) => path))(
  "the link to %s leads somewhere",
  (path) => {
    expect(readdirSync(join(root, path, ".."))).toContain(path.split("/").at(-1));
  },
);

test.each(Array.from(readme.matchAll(/npm run ([\w:]+)|npm (test)/g), ([, script, test]) => script ?? test))(
  "npm run %s is there",
  (script) => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(scripts).toHaveProperty([script as string]);
  },
);
