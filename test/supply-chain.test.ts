import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { codeIn, ROOT, readText, rowsIn, sectionOf } from "./docs/markdown";
import { createTempFolder } from "./support/temp-folder";

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const manifest = JSON.parse(readText("package.json")) as {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
const { "": _us, ...locked } = JSON.parse(readText("package-lock.json")).packages as Readonly<
  Record<string, LockedPackage>
>;
const nameOf = (path: string) => path.split("node_modules/").at(-1) ?? "";
const production = Object.entries(locked).filter(([, { dev }]) => !dev);
const productionNames = [...new Set(production.map(([path]) => nameOf(path)))].sort();

const docs = readText("docs/dependencies.md");
const tableOf = (heading: string) => rowsIn(sectionOf(docs, heading));
const firstColumn = (heading: string) => tableOf(heading).map(([cell = ""]) => codeIn(cell).join());

test("the lock file names every package by its hash, and none by an address", () => {
  const suspect = Object.entries(locked).filter(
    ([, { integrity = "", resolved }]) => !integrity.startsWith("sha512-") || resolved !== undefined,
  );
  expect(suspect).toEqual([]);
});

describe("docs/dependencies.md", () => {
  test("has a reason for each direct dependency, and for none that is not there", () => {
    expect(firstColumn("Direct")).toEqual(Object.keys(manifest.dependencies));
  });

  test("has all packages of production, each with its licence", () => {
    const rows = tableOf("All of them").map(([name = "", licence]) => [codeIn(name).join(), licence]);
    const licences = new Map(production.map(([path, { license }]) => [nameOf(path), license]));
    expect(rows).toEqual(productionNames.map((name) => [name, licences.get(name)]));
  });

  test("counts them", () => {
    const direct = Object.keys(manifest.dependencies).length;
    const all = productionNames.length;
    const bundled = tableOf("All of them").filter(([, , , isBundled]) => isBundled === "yes").length;
    expect(sectionOf(docs, "All of them")).toContain(
      `The ${direct} above bring ${all - direct} others; ${bundled} of the ${all} have code in the bundle.`,
    );
  });

  test("has a reason for each package that development needs", () => {
    expect(firstColumn("For development")).toEqual(Object.keys(manifest.devDependencies));
  });

  test("says which of them are in the bundle, and these come with their licences", () => {
    const said = tableOf("All of them")
      .filter(([, , , bundled]) => bundled === "yes")
      .map(([name = ""]) => codeIn(name).join());
    const licences = readText("dist/THIRD-PARTY-LICENSES.txt");
    const bundled = Array.from(licences.matchAll(/^(\S+) \d\S* \(.+\)$/gm), ([, name = ""]) => name);
    expect([...new Set(bundled)].sort()).toEqual(said);
    expect(licences).toContain("Permission is hereby granted, free of charge");
    expect(licences).toContain("Apache License");
  });

  test("names every package that has an install script", () => {
    const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript);
    expect(scripted.map(([path]) => nameOf(path)).sort()).toEqual(firstColumn("Install scripts").sort());
  });
});

test("no package's install script may run, in an npm that asks", () => {
  const denied = firstColumn("Install scripts").map((name) => [name, false] as const);
  expect(manifest.allowScripts).toEqual(Object.fromEntries(denied));
});

test("in production one package has an install script, and it is the one that was read", () => {
  const scripted = production.filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripted.map(([path]) => path)).toEqual(["node_modules/protobufjs"]);
  const script = readText("node_modules/protobufjs/scripts/postinstall.js");
  // It reads two package.json files and may print a warning. Read it again before you change this.
  expect(createHash("sha256").update(script).digest("hex")).toBe(
    "5af8463b97ee8e309b4a2111f9479bacdf0c180de0ca0155527679b1fc6d9e6c",
  );
});

test("our own package runs nothing where it is installed", () => {
  const hooks = [
    "preinstall",
    "install",
    "postinstall",
    "preprepare",
    "postprepare",
    "prepublish",
    "prepack",
  ];
  expect(Object.keys(manifest.scripts).filter((name) => hooks.includes(name))).toEqual([]);
});

test("npm run sbom lists what production needs, each with its hash and licence", async () => {
  await using folder = await createTempFolder();
  const file = folder.at("sbom.json");
  expect(manifest.scripts.sbom).toBe("node scripts/sbom.mjs");
  execFileSync(process.execPath, [join(ROOT, "scripts", "sbom.mjs"), file], { cwd: ROOT, stdio: "pipe" });
  const list = JSON.parse(readFileSync(file, "utf8")) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: { readonly name: string } };
    readonly components: readonly {
      readonly name: string;
      readonly version: string;
      readonly hashes: readonly unknown[];
      readonly licenses: readonly unknown[];
    }[];
  };
  expect([list.bomFormat, list.metadata.component.name]).toEqual(["CycloneDX", "registrar"]);
  const wanted = new Set(production.map(([path, { version }]) => `${nameOf(path)}@${version}`));
  expect(new Set(list.components.map(({ name, version }) => `${name}@${version}`))).toEqual(wanted);
  for (const { hashes, licenses } of list.components)
    expect([hashes.length, licenses.length]).toEqual([1, 1]);
});
