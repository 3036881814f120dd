import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { codeIn, ROOT, readText, rowsIn } from "./docs/markdown";
import { createTempFolder } from "./support/temp-folder";

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const lockedIn = (lockFile: string): Readonly<Record<string, LockedPackage>> => {
  const { "": _us, ...packages } = JSON.parse(readText(lockFile)).packages;
  return packages;
};
const locked = lockedIn("package-lock.json");
const nameOf = (path: string) => path.split("node_modules/").at(-1) ?? "";

const LICENCES = readText("dist/THIRD-PARTY-LICENSES.txt");
/** `name@version` of the packages with code in the command line's bundle. */
const bundled = new Set(
  Array.from(LICENCES.matchAll(/^(\S+) (\d\S*) \(.+\)$/gm), ([, name, version]) => `${name}@${version}`),
);
const idOf = ([path, { version }]: readonly [string, LockedPackage]) => `${nameOf(path)}@${version}`;
const used = Object.entries(locked).filter((one) => !one[1].dev || bundled.has(idOf(one)));

const LOCK_FILES = ["package-lock.json", "test/mutation/stryker/package-lock.json"];
test.each(LOCK_FILES)("%s names every package by its hash, and none by an address", (lockFile) => {
  const suspect = Object.entries(lockedIn(lockFile)).filter(
    ([, { integrity = "", resolved }]) => !integrity.startsWith("sha512-") || resolved !== undefined,
  );
  expect(suspect).toEqual([]);
});

test("docs/dependencies.md has each direct dependency, and each package that is bundled directly", () => {
  const direct = Object.keys(manifest.dependencies);
  const [table = ""] = readText("docs/dependencies.md").split("\n## ");
  const rows = rowsIn(table).map(([name = "", , comesWith]) => ({
    name: codeIn(name).join(),
    isInstalled: comesWith === "library, bundle",
  }));
  expect(rows.filter(({ isInstalled }) => isInstalled).map(({ name }) => name)).toEqual(direct);
  const others = rows.filter(({ isInstalled }) => !isInstalled).map(({ name }) => name);
  expect(others).toEqual(
    // What the library brings along is no development package in the lock file, such as protobufjs.
    Object.keys(manifest.devDependencies).filter((name) => {
      const path = `node_modules/${name}`;
      const one = locked[path];
      return one?.dev && bundled.has(idOf([path, one]));
    }),
  );
});

test("what is in the bundle comes with its licence", () => {
  for (const text of ["Permission is hereby granted, free of charge", "Apache License"])
    expect(LICENCES).toContain(text);
});

test("package.json denies every install script; users get one, which is the one that was read", () => {
  const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript);
  const denied = scripted.map(([path]) => [nameOf(path), false] as const);
  expect(manifest.allowScripts).toEqual(Object.fromEntries(denied));
  const ofUsers = scripted.filter(([, { dev }]) => !dev).map(([path]) => path);
  expect(ofUsers).toEqual(["node_modules/protobufjs"]);
  const script = readText("node_modules/protobufjs/scripts/postinstall.js");
  // It reads two package.json files and may print a warning. Read it again before you change this.
  expect(createHash("sha256").update(script).digest("hex")).toBe(
    "5af8463b97ee8e309b4a2111f9479bacdf0c180de0ca0155527679b1fc6d9e6c",
  );
});

test("npm run sbom lists each shipped package with its hash and licence", async () => {
  await using folder = await createTempFolder();
  const file = folder.at("sbom.json");
  expect(manifest.scripts).toHaveProperty("sbom", expect.stringContaining("node scripts/sbom.mjs"));
  execFileSync(process.execPath, [join(ROOT, "scripts", "sbom.mjs"), file], { cwd: ROOT, stdio: "pipe" });
  const list = JSON.parse(readFileSync(file, "utf8"));
  expect(list).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "registrar" } } });
  const components: readonly Readonly<Record<string, string>>[] = list.components;
  const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
  expect(listed).toEqual(new Set(used.map(idOf)));
  for (const { hashes, licenses } of components) expect([hashes?.length, licenses?.length]).toEqual([1, 1]);
});
