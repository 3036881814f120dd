import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { parseFlags } from "../../src/flags/table";
import { DOCUMENTS, fencesIn, ROOT, readText } from "./markdown";

/** No deprecated flag, no one of former releases, no words behind the flags. */
const NOT_DEPRECATED = {
  ...{ ignored: [], rest: [], healthPort: 0, connectionTimeoutMs: 0 },
  mode: expect.stringMatching(/^(?:health-probe|ready-probe)?$/),
};

const PIECES = [
  ...DOCUMENTS.flatMap((path) =>
    fencesIn(readText(path), "yaml").map((text, index) => ({ name: `${path}, ${index + 1}`, text })),
  ),
  ...readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({ name: `examples/${name}`, text: readText(`examples/${name}`) })),
];

type Tree = { readonly [key: string]: unknown };
function objectsIn(value: unknown): readonly Tree[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value as Tree, ...Object.values(value).flatMap(objectsIn)];
}

const words = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

const READ = PIECES.map(({ name, text }) => {
  const documents = parseAllDocuments(text);
  return { name, documents, objects: documents.flatMap((document) => objectsIn(document.toJS())) };
});
const withField = (field: string) =>
  READ.map(({ name, objects }) => ({ name, objects: objects.filter((object) => field in object) })).filter(
    ({ objects }) => objects.length > 0,
  );

test.each(READ)("$name is YAML", ({ documents }) => {
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
});

test.each(withField("args"))("$name gives registrar flags that it takes, none deprecated", ({ objects }) => {
  const lines = objects.flatMap((object) => [words(object.args), words(object.command).slice(1)]);
  for (const line of lines.filter((args) => args.some((word) => word.startsWith("--csi-address"))))
    expect(parseFlags(line)).toMatchObject({ flags: NOT_DEPRECATED });
});

test.each(withField("httpGet"))("$name asks paths that are served", ({ objects }) => {
  for (const { httpGet } of objects)
    expect(String((httpGet as Tree).path)).toMatch(/^\/(healthz|livez|readyz)(\?driver=[\w.-]+)?$/);
});

test.each(withField("containers"))("$name mounts no volume that it lacks", ({ objects }) => {
  for (const object of objects) {
    const mounted = objectsIn(object.containers).flatMap(({ volumeMounts }) => objectsIn(volumeMounts));
    const volumes = objectsIn(object.volumes).map(({ name }) => name);
    expect(volumes).toEqual(expect.arrayContaining(mounted.map(({ name }) => name)));
  }
});

test.each(withField("runAsUser"))("$name gives registrar what it needs and no more", ({ objects }) => {
  for (const context of objects)
    expect(context).toEqual({
      runAsUser: 0,
      runAsGroup: 0,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    });
});
