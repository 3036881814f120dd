import { lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { bin, exports as exported, version } from "../../package.json";
import { linksIn, ROOT } from "../docs/markdown";
import { run, succeeded } from "../support/child-process";
import { allTests } from "../support/each-test";
import { createTempFolder } from "../support/temp-folder";
import { packagesOfUsers } from "./support/consumer";
import { packPackage } from "./support/packed-package";

const packed = allTests(packPackage);
const folder = allTests(createTempFolder);
beforeAll(() => packed.unpack(folder.path));

const textOf = (file: string) => readFileSync(folder.at(file), "utf8");

const entryPoints = [
  ...Object.values(bin),
  ...Object.values(exported).flatMap((target) =>
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

function reached(): readonly string[] {
  const found = new Set(entryPoints);
  for (const file of found) {
    for (const neighbour of neighboursOf(file)) found.add(neighbour);
    const stem = file.replace(/\.(?:d\.ts|js)$/, "");
    for (const half of [`${stem}.js`, `${stem}.d.ts`]) if (packed.files.includes(half)) found.add(half);
  }
  return [...found].sort();
}

test("the package has what its entry points reach, the texts and the wire contracts", () => {
  const texts = [
    ...["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "dist/THIRD-PARTY-LICENSES.txt"],
    "examples/driver/Dockerfile",
    ...["csi", "pluginregistration"].map((name) => `proto/${name}.proto`),
    ...packed.files.filter((file) => /^dist\/cli\/help\/[a-z-]+-(?:110|80)\.txt$/.test(file)),
    ...["docs", "examples", "examples/driver", "examples/driver/src", "examples/driver/test"].flatMap((of) =>
      readdirSync(join(ROOT, of)).flatMap((name) => (extname(name) === "" ? [] : [`${of}/${name}`])),
    ),
  ];
  expect(packed.files).toEqual([...new Set([...reached(), ...texts])].sort());
  expect(packed.files).toContain("dist/registrar/registration/states/publishing.js");
});

test("its pages link to what it holds, or to what is for work in a clone", () => {
  const pages = packed.files.filter((file) => file.endsWith(".md"));
  const absent = pages.flatMap((page) =>
    linksIn(textOf(page))
      .filter((link) => !/^(?:https:|#)/.test(link))
      .map((link) => join(page, "..", link.replace(/#.*/, "")))
      .filter((file) => !packed.files.includes(file)),
  );
  expect(absent).toEqual([]);
  expect(pages.filter((page) => textOf(page).includes("<!--"))).toEqual([]);
});

test("the package has no source map and no path of the machine that built it", () => {
  const isForeign = (text: string) => /^\/\/# sourceMappingURL=/m.test(text) || text.includes(ROOT);
  expect(packed.files.filter((file) => file.endsWith(".map") || isForeign(textOf(file)))).toEqual([]);
});

test("the package's commands run by a link, as npx makes it, without dependencies", async () => {
  await using empty = await createTempFolder();
  for (const [command, path] of Object.entries(bin)) {
    expect(lstatSync(folder.at(path)).mode & 0o111).toBe(0o111);
    expect(textOf(path)).toMatch(/^#!\/usr\/bin\/env node\n/);
    symlinkSync(folder.at(path), empty.at(command));
    const stdout = expect.stringMatching(`^\\S+ v${version}\n$`);
    const finished = await run(empty.at(command), ["--version"], { cwd: empty.path });
    expect(finished).toEqual({ code: 0, stdout, stderr: "" });
  }
});

test("arethetypeswrong and publint find nothing wrong, whichever way TypeScript resolves modules", async () => {
  const program = join(__dirname, "support", "judge-package.mjs");
  const { stdout } = succeeded(await run(process.execPath, [program, packed.tarball], { cwd: __dirname }));
  expect(JSON.parse(stdout)).toEqual({
    entrypoints: [".", "./testing", "./node-readiness", "./grpc", "./proto/*", "./package.json"],
    types: [],
    package: [],
  });
});

test("its package.json has nothing that concerns a clone only", () => {
  const { scripts, devDependencies, allowScripts, ...rest } = JSON.parse(textOf("package.json"));
  for (const field of ["dependencies", "repository", "bugs", "homepage"]) expect(rest).toHaveProperty(field);
  expect([scripts, devDependencies, allowScripts]).toEqual([undefined, undefined, undefined]);
});

test("users install gRPC and its dependencies, and no package that the command line bundles", () => {
  const names = packagesOfUsers().map((path) => path.split("node_modules/").at(-1));
  expect(names).toEqual(expect.arrayContaining(["@grpc/grpc-js", "protobufjs"]));
  const bundled = ["pino", "prom-client", "js-yaml", "thread-stream"];
  expect(names.filter((name = "") => bundled.includes(name))).toEqual([]);
});

test("the job that publishes finds nothing but the checkout outside of dist/", async () => {
  const program = `import { checkTarball } from "./scripts/release/tarball.mjs"; checkTarball(process.argv[1]);`;
  const words = ["--input-type=module", "--eval", program, packed.tarball];
  expect(succeeded(await run(process.execPath, words, { cwd: ROOT })).stdout).toBe("");
});

test("the package is small", () => {
  const { packedBytes, unpackedBytes, files } = packed;
  process.stdout.write(
    `the package: ${packedBytes} bytes, ${unpackedBytes} unpacked, ${files.length} files\n`,
  );
  expect(packedBytes).toBeLessThan(1_500_000);
});
