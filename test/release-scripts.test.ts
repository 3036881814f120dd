import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest, { name, version } from "../package.json";
import { fencesIn, ROOT, readText, sectionOf } from "./docs/markdown";
import { npmTarball } from "./support/npm-tarball";
import { createTempFolder } from "./support/temp-folder";

const CHANGELOG = [
  "# Changelog",
  ...["## [Unreleased]", "### Added", "- Not yet."],
  ...["## [1.2.0] - 2026-11-22", "What it is about.", "### Fixed", "- A thing."],
  ...["## [1.1.0] - 2026-10-01", "### Added", "- Another."],
].join("\n\n");

async function notesOf(tag: string, packageJson: object, env: NodeJS.ProcessEnv = {}) {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("CHANGELOG.md"), `${CHANGELOG}\n`);
  writeFileSync(folder.at("package.json"), JSON.stringify(packageJson));
  const script = join(ROOT, "scripts/release/notes.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, tag, folder.path], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
  expect(status).toBe(stderr === "" ? 0 : 1);
  return [stdout, stderr];
}

test.each([
  ["v1.2.0", "1.2.0", "What it is about.\n\n### Fixed\n\n- A thing.\n", ""],
  ["v1.1.0", "1.1.0", "### Added\n\n- Another.\n", ""],
  [
    "v1.2.1",
    "1.2.0",
    "",
    "scripts/release/notes.mjs: the tag is v1.2.1, and package.json has version 1.2.0\n",
  ],
  [
    "v1.3.0",
    "1.3.0",
    "",
    'scripts/release/notes.mjs: CHANGELOG.md has nothing under a heading "[1.3.0] - the day"\n',
  ],
])("the tag %s with package.json's %s", async (tag, version, notes, complaint) => {
  expect(await notesOf(tag, { version })).toEqual([notes, complaint]);
});

test.each([
  ["team/registrar", ""],
  [
    "other/fork",
    "repository.url in package.json is git+https://github.com/team/registrar.git, and this repository needs git+https://github.com/other/fork.git",
  ],
])("built in the repository %s", async (repository, complaint) => {
  const home = "https://github.com/team/registrar";
  const urls = { homepage: home, bugs: { url: `${home}/issues` }, repository: { url: `git+${home}.git` } };
  const [, said] = await notesOf("v1.2.0", { version: "1.2.0", ...urls }, { GITHUB_REPOSITORY: repository });
  expect(said).toBe(complaint && `scripts/release/notes.mjs: ${complaint}\n`);
});

const PINNED = `ARG BUILD_IMAGE=node:26@sha256:${"a".repeat(64)}\nARG RUNTIME_IMAGE=base@sha256:${"b".repeat(64)}\n`;
const NAMES = { IMAGE: "registry.test/team/registrar", IMAGE_REGISTRY: "registry.test", IMAGE_USER: "robot" };

const WORKFLOW = `jobs:
  image:
    container: a/one
    services: { db: {} }
    steps:
      - uses: docker://b/two:1
      - uses: actions/checkout@1
      - with:
          image: c/three # as it is today
      - with:
          image: pinned:1@sha256:${"c".repeat(64)}
      - image: d/four@sha256:abc
      - image: d/four
`;

test.each<[string, string, string, NodeJS.ProcessEnv, readonly string[]]>([
  [
    "is what it must be",
    PINNED,
    "a driver, disk.example.com, and a taint, example.com/agent-not-ready",
    NAMES,
    [],
  ],
  [
    "has a base without a digest",
    PINNED.replace(/@sha256:b+/, ":latest"),
    "",
    NAMES,
    ["Dockerfile: RUNTIME_IMAGE has no digest: write IMAGE@sha256:DIGEST"],
  ],
  [
    "has a page with a placeholder",
    PINNED,
    "docker pull example.com/registrar:v1",
    NAMES,
    ["docs/page.md names example.com in place of this project's address"],
  ],
  [
    "is in a repository without a variable",
    PINNED,
    "",
    { ...NAMES, IMAGE: "" },
    ["the variable IMAGE of the repository is not set"],
  ],
  [
    "has workflows that run images without a digest",
    PINNED,
    "",
    NAMES,
    ["a/one", "b/two:1", "c/three", "d/four"].map(
      (image) => `.github/workflows/ci.yml: ${image} has no digest: write IMAGE@sha256:DIGEST`,
    ),
  ],
])("ready.mjs judges a commit that %s", async (what, dockerfile, page, names, problems) => {
  await using folder = await createTempFolder();
  const cwd = folder.path;
  mkdirSync(folder.at("docs"));
  mkdirSync(folder.at(".github", "workflows"), { recursive: true });
  writeFileSync(folder.at(".github", "workflows", "ci.yml"), what.includes("workflows") ? WORKFLOW : "");
  writeFileSync(folder.at("docs", "page.md"), page);
  writeFileSync(folder.at("Dockerfile"), dockerfile);
  for (const words of [
    ["init", "--quiet"],
    ["add", "."],
  ])
    spawnSync("git", words, { cwd });
  const env = { PATH: process.env.PATH, ...names };
  const words = [join(ROOT, "scripts/release/ready.mjs")];
  const { stderr, status } = spawnSync(process.execPath, words, { cwd, env, encoding: "utf8" });
  expect(stderr).toBe(problems.map((problem) => `scripts/release/ready.mjs: ${problem}\n`).join(""));
  expect(status).toBe(problems.length === 0 ? 0 : 1);
});

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

/** Writes a layout with an image of one platform; its digest. */
function writeImage(layout: string, layer: string, more: object = {}): string {
  const store = (text: string) => {
    const digest = digestOf(text);
    writeFileSync(join(layout, "blobs", digest.replace(":", "/")), text);
    return { digest };
  };
  mkdirSync(join(layout, "blobs/sha256"), { recursive: true });
  const manifest = { config: store("{}"), layers: [{ ...store(layer), ...more }] };
  const index = store(JSON.stringify({ manifests: [store(JSON.stringify(manifest))] }));
  writeFileSync(join(layout, "index.json"), JSON.stringify({ manifests: [index] }));
  return index.digest;
}

function writeImages(folder: string, more: object = {}) {
  const [zstd, gzip] = ["zstd", "gzip"].map((name) => writeImage(join(folder, name), name, more));
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
    /has the digest sha256:[0-9a-f]{64}, or/,
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
    /comes from elsewhere: http/,
  ],
])(
  "an image with %s is not taken: it would get this workflow's provenance",
  async (_what, spoil, complaint) => {
    const { lines, complaint: said } = await take(spoil);
    expect(lines).toBe("");
    expect(said).toMatch(complaint);
  },
);

test.each<[string, object, string | RegExp]>([
  [
    "each image once",
    { zstd: DIGEST, gzip: DIGEST },
    `${"a".repeat(64)}  team/registrar:v1\n${"a".repeat(64)}  team/registrar:v1-gzip\n`,
  ],
  ["no digest that has another subject behind it", { zstd: DIGEST, gzip: `${DIGEST}\nb  other` }, /for gzip/],
  ["no image without a digest", { gzip: DIGEST }, /for zstd/],
])("provenance names %s", async (_what, digests, expected) => {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("digests.json"), JSON.stringify(digests));
  const words = [join(ROOT, "scripts/release/publish.mjs"), "subjects", folder.path, "v1", "team/registrar"];
  const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (typeof expected === "string") return expect(stdout).toBe(expected);
  expect(stdout).toBe("");
  expect(stderr).toMatch(expected);
});

test("each command of RELEASING.md that verifies a release fails if the signature is another's", async () => {
  await using folder = await createTempFolder();
  const [commands = ""] = fencesIn(sectionOf(readText("RELEASING.md"), "Verify a release"), "sh");
  const [identity, issuer, ...verifying] = commands
    .replaceAll("\\\n", " ")
    .trim()
    .split(/(?<!&&)\n/);
  const payload = Buffer.from(JSON.stringify({ predicate: { components: [] } })).toString("base64");
  const ends = ["0", "1"].map((code) => {
    for (const name of ["cosign", "gh"])
      writeFileSync(folder.at(name), `#!/bin/sh\necho '{"payload":"${payload}"}'\nexit ${code}\n`, {
        mode: 0o755,
      });
    writeFileSync(folder.at("jq"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    const env = { PATH: `${folder.path}:${process.env.PATH}` };
    return verifying.map(
      (command) =>
        spawnSync("sh", ["-c", `${identity}\n${issuer}\n${command}`], { env, cwd: folder.path }).status,
    );
  });
  expect(ends).toEqual([
    [0, 0, 0],
    [1, 1, 1],
  ]);
});
