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
const lockedIn = (lockFile: string) => {
  const { "": _us, ...packages } = JSON.parse(readText(lockFile)).packages as Readonly<
    Record<string, LockedPackage>
  >;
  return packages;
};
const locked = lockedIn("package-lock.json");
const nameOf = (path: string) => path.split("node_modules/").at(-1) ?? "";
const production = Object.entries(locked).filter(([, { dev }]) => !dev);

/** `name@version` of the packages of which something is in the command line's bundle. */
const bundled = new Set(
  Array.from(
    readText("dist/THIRD-PARTY-LICENSES.txt").matchAll(/^(\S+) (\d\S*) \(.+\)$/gm),
    ([, name, version]) => `${name}@${version}`,
  ),
);
const idOf = ([path, { version }]: readonly [string, LockedPackage]) => `${nameOf(path)}@${version}`;
/** What reaches a user: with the library, or in the bundle. */
const used = Object.entries(locked).filter((one) => !one[1].dev || bundled.has(idOf(one)));
const namesOf = (packages: typeof used) => [...new Set(packages.map(([path]) => nameOf(path)))].sort();

const docs = readText("docs/dependencies.md");
const tableOf = (heading: string) => rowsIn(sectionOf(docs, heading));
const firstColumn = (heading: string) => tableOf(heading).map(([cell = ""]) => codeIn(cell).join());

test.each(["package-lock.json", "test/mutation/stryker/package-lock.json"])(
  "%s names every package by its hash, and none by an address",
  (lockFile) => {
    const suspect = Object.entries(lockedIn(lockFile)).filter(
      ([, { integrity = "", resolved }]) => !integrity.startsWith("sha512-") || resolved !== undefined,
    );
    expect(suspect).toEqual([]);
  },
);

describe("docs/dependencies.md", () => {
  test("has a reason for each direct dependency, and for none that is not there", () => {
    expect(firstColumn("Direct")).toEqual(Object.keys(manifest.dependencies));
  });

  test("has a reason for each that is bundled, and needed for development only otherwise", () => {
    const names = firstColumn("Bundled");
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining([...names]));
    expect(namesOf(used)).toEqual(expect.arrayContaining([...names]));
  });

  test("has all packages that reach a user, each with its licence, and how it does", () => {
    const rows = tableOf("All of them").map(([name = "", licence, _by, withLibrary, inBundle]) => ({
      ...{ name: codeIn(name).join(), licence, withLibrary, inBundle },
    }));
    const licences = new Map(used.map(([path, { license }]) => [nameOf(path), license]));
    const installed = namesOf(production);
    const inBundle = namesOf(used.filter((one) => bundled.has(idOf(one))));
    const yesOrNo = (yes: boolean) => (yes ? "yes" : "no");
    expect(rows).toEqual(
      namesOf(used).map((name) => ({
        name,
        licence: licences.get(name),
        withLibrary: yesOrNo(installed.includes(name)),
        inBundle: yesOrNo(inBundle.includes(name)),
      })),
    );
    expect(sectionOf(docs, "All of them")).toContain(
      `${rows.length} packages reach somebody: ${installed.length} come with the library, ${inBundle.length} have code in the bundle.`,
    );
  });

  test("has a reason for each package that development needs", () => {
    const reasons = [...firstColumn("For development"), ...firstColumn("Bundled")].sort();
    expect(reasons).toEqual(Object.keys(manifest.devDependencies));
  });

  test("what is in the bundle comes with its licence", () => {
    const licences = readText("dist/THIRD-PARTY-LICENSES.txt");
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

test("npm run sbom lists what reaches a user, each with its hash and licence", async () => {
  await using folder = await createTempFolder();
  const file = folder.at("sbom.json");
  expect(manifest.scripts.sbom).toContain("node scripts/sbom.mjs");
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
  const listed = new Set(list.components.map(({ name, version }) => `${name}@${version}`));
  expect(listed).toEqual(new Set(used.map(idOf)));
  for (const { hashes, licenses } of list.components)
    expect([hashes.length, licenses.length]).toEqual([1, 1]);
});
