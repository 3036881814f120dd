import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest, { name, version } from "../../package.json";
import { ROOT } from "../docs/markdown";
import { npmTarball } from "../support/npm-tarball";
import { createTempFolder } from "../support/temp-folder";

const TARBALL = `${name}-${version}.tgz`;
const HANDED_OVER = ["dist/sbom.cdx.json", "image/zstd/blobs/1", `packed/${TARBALL}`];

const {
  scripts: _scripts,
  devDependencies: _devDependencies,
  allowScripts: _allowScripts,
  ...packed
} = manifest;
const packageOf = (more: object = {}) =>
  npmTarball([
    { path: "package/package.json", content: `${JSON.stringify({ ...packed, ...more }, null, 2)}\n` },
  ]);

const digestOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

const AMD64 = { os: "linux", architecture: "amd64" };

/** Writes a layout with an image; its digest. */
function writeImage(layout: string, layer: string, more: object = {}, platforms = [AMD64]): string {
  const store = (text: string) => {
    const digest = digestOf(text);
    writeFileSync(join(layout, "blobs", digest.replace(":", "/")), text);
    return { digest };
  };
  mkdirSync(join(layout, "blobs/sha256"), { recursive: true });
  const manifest = { config: store("{}"), layers: [{ ...store(layer), ...more }] };
  const image = store(JSON.stringify(manifest));
  const index = store(JSON.stringify({ manifests: platforms.map((platform) => ({ ...image, platform })) }));
  writeFileSync(join(layout, "index.json"), JSON.stringify({ manifests: [index] }));
  return index.digest;
}

function writeImages(folder: string, more: object = {}, platforms = [AMD64]) {
  const [zstd, gzip] = ["zstd", "gzip"].map((name) => writeImage(join(folder, name), name, more, platforms));
  writeFileSync(join(folder, "digests.json"), JSON.stringify({ zstd, gzip }));
  return { zstd, gzip };
}

/** Hands over what a job made and `spoil` changed, and takes it in the folder `release`. */
async function take(spoil: (made: string) => void, { digest = "", to = "" } = {}) {
  await using folder = await createTempFolder();
  const made = folder.at("made");
  for (const file of HANDED_OVER) {
    mkdirSync(join(made, file, ".."), { recursive: true });
    writeFileSync(join(made, file), file);
  }
  rmSync(join(made, "image"), { recursive: true });
  writeImages(join(made, "image"));
  writeFileSync(join(made, "packed", TARBALL), packageOf());
  writeFileSync(join(made, "packed/packed.json"), JSON.stringify([{ filename: TARBALL }]));
  writeFileSync(folder.at("login"), "a secret");
  spoil(made);
  const tar = folder.at("release.tar");
  execFileSync("tar", ["--create", "--file", tar, "packed", "image", "dist/sbom.cdx.json"], { cwd: made });
  const sha256 = createHash("sha256").update(readFileSync(tar)).digest("hex");
  const target = to || folder.at("release");
  const words = [join(ROOT, "scripts/release/take.mjs"), tar, digest || sha256, target];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: "utf8" });
  return { lines: stdout.replaceAll(target, "TO"), complaint: stderr.replaceAll(target, "TO") };
}

test("what the job build made is taken, and the package is the one that packed.json names", async () =>
  expect(await take(() => {})).toEqual({
    lines: `RELEASE=TO\nTARBALL=TO/packed/${TARBALL}\n`,
    complaint: "",
  }));

type Alien = (path: string, made: string) => void;
const toLogin: Alien = (path, made) => symlinkSync(join(made, "..", "login"), path);

test.each<[string, string, Alien]>([
  ["a link to a file of the next job", "dist/sbom.cdx.json", toLogin],
  ["such a link as the package", `packed/${TARBALL}`, toLogin],
  ["such a link among the blobs", "image/zstd/blobs/2", toLogin],
  ["a link to a file beside it", "image/zstd/blobs/1", (path) => symlinkSync("../../digests.json", path)],
  ["another name of a file", "image/new", (path, made) => linkSync(join(made, "packed/packed.json"), path)],
  ["a pipe", "packed/new", (path) => execFileSync("mkfifo", [path])],
])("%s is not taken", async (_what, place, make) => {
  const { lines, complaint } = await take((made) => {
    rmSync(join(made, place), { force: true });
    make(join(made, place), made);
  });
  expect(lines).toBe("");
  expect(complaint).toMatch(/ is neither a directory nor a regular file with one name\n$/);
});

test.each<[string, readonly string[], string]>([
  ["a package that packed.json does not name", [TARBALL, "registrar-9.9.9.tgz"], TARBALL],
  ["another package than this commit's", ["registrar-9.9.9.tgz"], "registrar-9.9.9.tgz"],
  ["a path in place of a name", [TARBALL], `../packed/${TARBALL}`],
  ["no package", [], TARBALL],
])("%s is not taken", async (_what, files, filename) => {
  const { lines, complaint } = await take((made) => {
    rmSync(join(made, "packed"), { recursive: true });
    mkdirSync(join(made, "packed"));
    for (const file of files) writeFileSync(join(made, "packed", file), "");
    writeFileSync(join(made, "packed/packed.json"), JSON.stringify([{ filename }]));
  });
  expect(lines).toBe("");
  expect(complaint).toMatch(/packed\.json names .*: both must be /);
});

test("a package with settings for npm, which would get this workflow's identity, is not taken", async () => {
  const publishConfig = { "https-proxy": "http://127.0.0.1:18443", "strict-ssl": false };
  const { lines, complaint } = await take((made) =>
    writeFileSync(join(made, "packed", TARBALL), packageOf({ publishConfig })),
  );
  expect(lines).toBe("");
  expect(complaint).toMatch(/has another package\.json than the checkout packs\n$/);
});

test.each([
  [
    "another digest",
    { digest: "0".repeat(64) },
    /has the digest [0-9a-f]{64}, and the job build made 0{64}\n$/,
  ],
  ["a folder of the checkout", { to: join(ROOT, "scripts") }, /is in the checkout/],
])("nothing is unpacked with %s", async (_what, options, complaint) =>
  expect(await take(() => {}, options)).toEqual({ lines: "", complaint: expect.stringMatching(complaint) }),
);

const DIGEST = `sha256:${"a".repeat(64)}`;
const layerOf = (name: string) => join("image", name, "blobs", digestOf(name).replace(":", "/"));

test.each<[string, (made: string) => void, RegExp]>([
  [
    "a digest of no image, which nobody has tried",
    (made) => writeFileSync(join(made, "image/digests.json"), JSON.stringify({ zstd: DIGEST, gzip: DIGEST })),
    /zstd has the images sha256:[0-9a-f]{64}, and digests\.json has sha256:a{64}\n$/,
  ],
  [
    "the digest of the other image",
    (made) => {
      const { zstd } = writeImages(join(made, "image"));
      writeFileSync(join(made, "image/digests.json"), JSON.stringify({ zstd, gzip: zstd }));
    },
    /gzip has the images /,
  ],
  [
    "a second image beside it",
    (made) => {
      const { zstd, gzip } = writeImages(join(made, "image"));
      const manifests = [{ digest: gzip }, { digest: zstd }];
      writeFileSync(join(made, "image/gzip/index.json"), JSON.stringify({ manifests }));
    },
    /gzip has the images /,
  ],
  [
    "a layer that was changed",
    (made) => writeFileSync(join(made, layerOf("gzip")), "other"),
    /has the digest sha256:[0-9a-f]{64}\n$/,
  ],
  ["no layer", (made) => rmSync(join(made, layerOf("gzip"))), /ENOENT/],
  [
    "a blob of no image",
    (made) => writeFileSync(join(made, "image/zstd/blobs/sha256/more"), ""),
    /has blobs of no image: more\n$/,
  ],
  [
    "a layer of another server",
    (made) => writeImages(join(made, "image"), { urls: ["http://127.0.0.1:1"] }),
    /has what an image of ours has not: urls\n$/,
  ],
  [
    "such a layer in letters that only Go reads so",
    (made) => writeImages(join(made, "image"), { Urls: ["http://127.0.0.1:1"] }),
    /has what an image of ours has not: Urls\n$/,
  ],
  [
    "another variant of a platform, which nobody has tried",
    (made) => writeImages(join(made, "image"), {}, [AMD64, { ...AMD64, ...{ variant: "v3" } }]),
    /has what an image of ours has not: variant\n$/,
  ],
  [
    "two images of one platform, of which a node may take the other",
    (made) => writeImages(join(made, "image"), {}, [AMD64, AMD64]),
    /has two images of one platform: linux\/amd64,linux\/amd64\n$/,
  ],
])(
  "an image with %s is not taken: it would get this workflow's provenance",
  async (_what, spoil, complaint) => {
    const { lines, complaint: said } = await take(spoil);
    expect(lines).toBe("");
    expect(said).toMatch(complaint);
  },
);
