import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { parseFlags } from "../../src/cli/flags";
import { DOCUMENTS, fencesIn, ROOT, readText } from "./markdown";

/** Every piece of YAML that people may copy. */
const PIECES = [
  ...DOCUMENTS.flatMap((path) =>
    fencesIn(readText(path), "yaml").map((text, index) => ({ name: `${path}, ${index + 1}`, text })),
  ),
  ...readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => ({ name: `examples/${name}`, text: readText(`examples/${name}`) })),
];

type Tree = { readonly [key: string]: unknown };
/** Every object in a tree, however deep. */
function objectsIn(value: unknown): readonly Tree[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  if (typeof value !== "object" || value === null) return [];
  return [value as Tree, ...Object.values(value).flatMap(objectsIn)];
}

const words = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

describe.each(PIECES)("$name", ({ text }) => {
  const documents = parseAllDocuments(text);
  const objects = documents.flatMap((document) => objectsIn(document.toJS()));

  test("is YAML", () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  });

  test("gives registrar flags that it takes and that are not deprecated", () => {
    const lines = objects.flatMap((object) => [words(object.args), words(object.command).slice(1)]);
    for (const line of lines.filter((args) => args.some((word) => word.startsWith("--csi-address"))))
      expect(parseFlags(line)).toMatchObject({ flags: { deprecated: [], ignored: [], rest: [] } });
  });

  test("asks paths that are served", () => {
    const paths = objects.flatMap(({ httpGet }) => (httpGet ? [String((httpGet as Tree).path)] : []));
    for (const path of paths) expect(path).toMatch(/^\/(healthz|livez|readyz)(\?driver=[\w.-]+)?$/);
  });

  test("mounts no volume that it lacks", () => {
    const mounted = objects.flatMap(({ volumeMounts }) => objectsIn(volumeMounts).map(({ name }) => name));
    const volumes = objects.flatMap((object) => objectsIn(object.volumes).map(({ name }) => name));
    expect(volumes).toEqual(expect.arrayContaining(mounted));
  });

  test("gives registrar, where it confines it, what it needs and no more", () => {
    const contexts = objects.filter((object) => "runAsUser" in object);
    for (const context of contexts)
      expect(context).toEqual({
        runAsUser: 0,
        runAsGroup: 0,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        seccompProfile: { type: "RuntimeDefault" },
      });
  });
});
