import { lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { packedOnce } from "./support/packed-once";
import { type PackedPackage, packageJson, ROOT } from "./support/packed-package";

const MAX_PACKED_BYTES = 1_500_000;

let packed: PackedPackage;
let folder: TempFolder;
beforeAll(async () => {
  packed = await packedOnce();
  folder = await createTempFolder();
  await packed.unpack(folder.path);
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

const textOf = (file: string) => readFileSync(folder.at(file), "utf8");

/** Where those begin who use the package: its commands, and what it exports as code and as types. */
const entryPoints = [
  ...Object.values(packageJson.bin),
  ...Object.values(packageJson.exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  ),
]
  .filter((path) => !path.includes("*"))
  .map((path) => join(path));

/** The files that one loads or takes types from, by relative paths; also those that are not there. */
function neighboursOf(file: string): readonly string[] {
  if (!packed.files.includes(file) || !/\.(?:js|d\.ts)$/.test(file)) return [];
  const extension = file.endsWith(".d.ts") ? ".d.ts" : ".js";
  const text = textOf(file);
  const parts = Array.from(text.matchAll(/"part:([\w-]+)"/g), ([, name]) =>
    join("dist", "cli", `${name}.js`),
  );
  const specifiers = text.matchAll(/\b(?:require|import|from)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g);
  const modules = Array.from(specifiers, ([, specifier = ""]) => {
    const target = join(dirname(file), specifier);
    if (/\.(?:js|json)$/.test(target)) return target;
    const isFolder = packed.files.includes(join(target, `index${extension}`));
    return isFolder ? join(target, `index${extension}`) : `${target}${extension}`;
  });
  return [...modules, ...parts];
}

/** All that is reached from the entry points, with the types of each module that is. */
function reached(): readonly string[] {
  const found = new Set(entryPoints);
  for (const file of found) {
    for (const neighbour of neighboursOf(file)) found.add(neighbour);
    const otherHalf = file.endsWith(".d.ts")
      ? file.replace(/\.d\.ts$/, ".js")
      : file.replace(/\.js$/, ".d.ts");
    if (packed.files.includes(otherHalf)) found.add(otherHalf);
  }
  return [...found].sort();
}

test("holds what its entry points reach, and beside it the texts and the wire contracts", () => {
  const texts = [
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "dist/THIRD-PARTY-LICENSES.txt",
    "proto/csi.proto",
    "proto/pluginregistration.proto",
  ];
  expect(packed.files).toEqual([...new Set([...reached(), ...texts])].sort());
  expect(packed.files).toContain("dist/registrar/registration/states/publishing.js");
});

test("refers to no source map and names no path of the machine that built it", () => {
  expect(packed.files.filter((file) => file.endsWith(".map"))).toEqual([]);
  const foreign = (file: string) =>
    /^\/\/# sourceMappingURL=/m.test(textOf(file)) || textOf(file).includes(ROOT);
  expect(packed.files.filter(foreign)).toEqual([]);
});

test("its commands may be executed, and begin with the line that says by what", () => {
  for (const path of Object.values(packageJson.bin)) {
    expect(lstatSync(folder.at(path)).mode & 0o111).toBe(0o111);
    expect(textOf(path)).toMatch(/^#!\/usr\/bin\/env node\n/);
  }
});

test("is small", () => {
  const { packedBytes, unpackedBytes, files } = packed;
  const kB = (bytes: number) => `${Math.round(bytes / 1000)} kB`;
  process.stdout.write(
    `the package: ${kB(packedBytes)} packed, ${kB(unpackedBytes)} unpacked, ${files.length} files\n`,
  );
  expect(packedBytes).toBeLessThan(MAX_PACKED_BYTES);
});
