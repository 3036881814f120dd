import { readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { dependencies, devDependencies } from "../package.json";
import { ROOT } from "./docs/markdown";

/** What jest and tsc load by a name in their settings, types that a test names, and a program that is run and not imported. */
const NOT_IMPORTED = [
  ...["@biomejs/biome", "@grafana/schema", "@types/jest", "@types/js-yaml", "@types/node", "@types/yargs"],
];

function modulesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: folder !== "", encoding: "utf8" })
    .filter((name) => /\.(?:ts|mjs|cjs|js)$/.test(name))
    .filter((name) => !/(?:^|\/)(?:node_modules|built|bin|projects)\//.test(name))
    .map((name) => join(folder, name));
}

/** The packages that modules import, types aside: of one bundle, because a bundle of each would hold the same again. */
function packagesIn(modules: readonly string[]): readonly string[] {
  const contents = modules.map((path) => `import "./${path}";`).join("\n");
  const { metafile } = buildSync({
    ...{ stdin: { contents, resolveDir: ROOT }, outfile: "all.js", write: false, metafile: true },
    ...{ bundle: true, packages: "external", platform: "node", format: "esm", logLevel: "error" },
    ...{ loader: { ".node": "empty" }, treeShaking: false },
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const names = imports
    .filter(({ external, path }) => external && !isBuiltin(path) && /^[@a-z]/.test(path))
    .map(({ path }) => /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
  return [...new Set(names)].sort();
}

test("the library imports the packages that package.json says it needs, each of them and no other", () => {
  expect(packagesIn(["src/index.ts", "src/testing.ts"])).toEqual(Object.keys(dependencies).sort());
});

test("the command line, build, tests and benches import each development package, and no other", () => {
  const imported = packagesIn(["", "src", "scripts", "test", "bench"].flatMap(modulesIn));
  const development = new Set(imported.filter((name) => !(name in dependencies)));
  expect([...development, ...NOT_IMPORTED].sort()).toEqual(Object.keys(devDependencies).sort());
});
