import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT } from "../docs/markdown";
import { npmTar, npmTarball, type TarEntry } from "../support/npm-tarball";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

// What the job that publishes takes of the package that a job with others' compilers made: scripts/release/tarball.mjs.

const MANIFEST = { name: "registrar", version: "0.1.0", homepage: "https://example.com/r", type: "commonjs" };
const CLONE = { ...MANIFEST, scripts: { prepare: "x" }, devDependencies: { esbuild: "1" } };
const file = (path: string, content: string, type?: string): TarEntry => ({
  path: `package/${path}`,
  content,
  ...(type === undefined ? {} : { type }),
});
const manifest = (more: object = {}) =>
  file("package.json", `${JSON.stringify({ ...MANIFEST, ...more }, null, 2)}\n`);
const LICENSE = file("LICENSE", "Apache-2.0");
const README = file("README.md", "[a](docs/a.md) [b](https://example.com/r/blob/v0.1.0/test/b.ts)");
const PAGE = file("docs/a.md", "5 s");
const BUILT = file("dist/cli.js", "what the compiler wrote");
const PACKED = [LICENSE, BUILT, manifest(), PAGE, README];

function checkout(folder: TempFolder) {
  mkdirSync(folder.at("docs"));
  writeFileSync(folder.at("package.json"), JSON.stringify(CLONE));
  writeFileSync(folder.at("LICENSE"), LICENSE.content);
  writeFileSync(folder.at("README.md"), "<!-- a comment -->\n[a](docs/a.md) [b](test/b.ts)");
  writeFileSync(folder.at("docs", "a.md"), "<!--=A-->5 s");
  writeFileSync(folder.at(".npmrc"), "fund=false\n");
}

/** Runs a program of JavaScript beside such a checkout, with a check of a tarball's bytes; what it prints. */
async function check(tarball: Buffer, program = "check(bytes);") {
  await using folder = await createTempFolder();
  checkout(folder);
  writeFileSync(folder.at("a.tgz"), tarball);
  const text = `import { checkTarball, filesIn } from "${join(ROOT, "scripts/release/tarball.mjs")}";
    import { readFileSync, writeFileSync } from "node:fs";
    import { gunzipSync, gzipSync } from "node:zlib";
    const bytes = readFileSync("a.tgz");
    function check(changed) {
      writeFileSync("b.tgz", changed);
      checkTarball("b.tgz");
    }
    try { ${program} } catch (error) { console.log(error.message); }`;
  const words = ["--input-type=module", "--eval", text];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder.path, encoding: "utf8" });
  return stdout + stderr;
}

test("a package whose files outside of dist/ are the checkout's is taken, whatever is in dist/", async () =>
  expect(await check(npmTarball(PACKED))).toBe(""));

const others = (path: string) => PACKED.filter((one) => one.path !== `package/${path}`);
const withManifest = (more: object) => [...others("package.json"), manifest(more)];
const foreign = /is no file of the checkout\n$/;
const another = (path: string) => new RegExp(`has another ${path} than the checkout packs\n$`);

test.each<[string, readonly TarEntry[], RegExp]>([
  [
    "a proxy for npm's identity, without TLS",
    withManifest({ publishConfig: { "https-proxy": "http://127.0.0.1:1", "strict-ssl": false } }),
    another("package.json"),
  ],
  ["another version", withManifest({ version: "9.9.9" }), another("package.json")],
  ["a script for users", withManifest({ scripts: { postinstall: "x" } }), another("package.json")],
  ["the clone's package.json", [file("package.json", JSON.stringify(CLONE))], another("package.json")],
  ["no package.json", others("package.json"), /has no package\.json\n$/],
  [
    "a package that is bundled",
    [...PACKED, file("node_modules/x/package.json", "{}")],
    /node_modules.x.package\.json, which is no file of the checkout\n$/,
  ],
  ["a lock file that users' npm obeys", [...PACKED, file("npm-shrinkwrap.json", "{}")], foreign],
  ["what npm builds at an installation", [...PACKED, file("binding.gyp", "{}")], foreign],
  ["settings of npm", [...PACKED, file(".npmrc", "registry=http://127.0.0.1:1")], another("\\.npmrc")],
  ["another page", [...others("docs/a.md"), file("docs/a.md", "6 s")], another("docs/a\\.md")],
  ["another license", [...others("LICENSE"), file("LICENSE", "MIT")], another("LICENSE")],
])("a package with %s is refused", async (_what, entries, complaint) =>
  expect(await check(npmTarball(entries))).toMatch(complaint),
);

const header = /^the tarball has another header at \d+ than npm pack writes: /;
const behind = /^the tarball does not end with empty blocks\n$/;

test.each<[string, Buffer, RegExp]>([
  [
    "a second package.json",
    npmTarball([...PACKED, manifest({ private: true })]),
    /has package.json and then/,
  ],
  ["one in capitals", npmTarball([...PACKED, file("Package.JSON", "{}")]), /has package.json and then/],
  [
    "another folder beside package/",
    npmTarball([...PACKED, { path: "x/package.json", content: "" }]),
    header,
  ],
  ["a path upwards", npmTarball([...PACKED, file("dist/../package.json", "{}")]), header],
  ["an empty name in a path", npmTarball([...PACKED, file("dist//package.json", "{}")]), header],
  ["a symbolic link", npmTarball([...PACKED, file("dist/x", "", "2")]), header],
  ["another name of a file", npmTarball([...PACKED, file("dist/x", "", "1")]), header],
  ["pax's other name for the next file", npmTarball([file("x", "20 path=y\n", "x"), ...PACKED]), header],
  ["pax's settings for all files", npmTarball([file("x", "", "g"), ...PACKED]), header],
  ["GNU's long name", npmTarball([file("x", "package/y", "L"), ...PACKED]), header],
  ["files behind the end", gzipSync(Buffer.concat([npmTar(PACKED), npmTar([manifest()])])), behind],
  ["an end in a file", gzipSync(npmTar([BUILT]).subarray(0, 530)), /ends in dist.cli\.js, or/],
  ["no end", gzipSync(npmTar(PACKED).subarray(0, -1024)), behind],
  ["another gzip stream behind", Buffer.concat([npmTarball(PACKED), npmTarball(PACKED)]), /behind its gzip/],
  ["bytes behind", Buffer.concat([npmTarball(PACKED), Buffer.from("x")]), /behind its gzip/],
  ["no compression", npmTar(PACKED), /is no gzip stream/],
])("a tarball that another reader may read otherwise is refused: %s", async (_what, tarball, complaint) =>
  expect(await check(tarball)).toMatch(complaint),
);

test("any byte that is changed in a tarball is noticed, except in the content of a file of dist/", async () => {
  const unnoticed = await check(
    npmTarball(PACKED),
    `const tar = gunzipSync(bytes);
    const free = tar.indexOf("what the compiler wrote");
    for (let at = 0; at < tar.length; at += 17) {
      if (at >= free && at < free + "what the compiler wrote".length) continue;
      const changed = Buffer.from(tar);
      changed[at] ^= 1;
      let isNoticed = false;
      try { check(gzipSync(changed, { level: 0 })); } catch { isNoticed = true; }
      if (!isNoticed) console.log(at);
    }`,
  );
  expect(unnoticed).toBe("");
});
