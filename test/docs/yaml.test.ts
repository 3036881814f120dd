import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { parseFlags } from "../../src/flags/table";
import { DOCUMENTS, fencesIn, ROOT, readText } from "./markdown";

// The doctor judges the examples as a whole (test/tools/doctor/command-files.test.ts); the pages show pieces.

/** No deprecated flag, no one of former releases, no words behind the flags. */
const NOT_DEPRECATED = {
  ...{ ignored: [], rest: [], healthPort: 0, connectionTimeoutMs: 0 },
  mode: expect.stringMatching(/^(?:health-probe|ready-probe)?$/),
};

const PIECES = [
  ...DOCUMENTS.flatMap((path) => fencesIn(readText(path), "yaml")),
  ...readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readText(`examples/${name}`)),
];
const READ = PIECES.flatMap((text) => parseAllDocuments(text));

type Tree = { readonly [key: string]: unknown };
function objectsIn(value: unknown): readonly Tree[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value as Tree, ...Object.values(value).flatMap(objectsIn)];
}
const withField = (field: string) =>
  READ.flatMap((document) => objectsIn(document.toJS())).filter((object) => field in object);
const words = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

test("what the pages and examples have as YAML is YAML", () => {
  expect(READ.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
});

test("it gives registrar flags that it takes, none deprecated", () => {
  const lines = withField("args").flatMap(({ args, command }) => [words(args), words(command).slice(1)]);
  const ours = lines.filter((args) => args.some((word) => word.startsWith("--csi-address")));
  expect(ours.length).toBeGreaterThan(3);
  for (const line of ours) expect(parseFlags(line)).toMatchObject({ flags: NOT_DEPRECATED });
});

test("it asks paths that are served", () => {
  const paths = withField("httpGet").map(({ httpGet }) => String((httpGet as Tree).path));
  expect(paths.filter((path) => !/^\/(healthz|livez|readyz)(\?driver=[\w.-]+)?$/.test(path))).toEqual([]);
});
