// node scripts/release/build.mjs FOLDER [-- FLAG...]: builds the image for each platform in PLATFORMS, once with layers in zstd, once
// in gzip: FOLDER/zstd and FOLDER/gzip are OCI layouts, FOLDER/digests.json has the digest of each, FOLDER/sbom.cdx.json lists what
// is in the image. Pushes nothing. The flags are buildah's. VERSION, REVISION, SOURCE and CREATED (RFC 3339) become labels, and so
// does the digest of the base.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { basesOf } from "./bases.mjs";
import { readWords, run } from "./command.mjs";
import { imageSbom } from "./image-sbom.mjs";
import { COMPRESSIONS, joinImages, unpack } from "./layout.mjs";

const { words, flags } = readWords();
const [folder] = words;
if (folder === undefined) throw new Error("name a folder");
const PLATFORMS_OF_NODE = "linux/amd64,linux/arm64,linux/ppc64le,linux/s390x";
const { PLATFORMS = PLATFORMS_OF_NODE, VERSION, REVISION, SOURCE, CREATED } = process.env;
const BASE_DIGEST = basesOf(readFileSync("Dockerfile", "utf8")).RUNTIME_IMAGE?.digest;
const labels = Object.entries({ VERSION, REVISION, SOURCE, CREATED, BASE_DIGEST }).filter(
  ([, value]) => value !== undefined,
);

const built = resolve(folder, "platforms");
mkdirSync(built, { recursive: true });
const layouts = [];
for (const platform of PLATFORMS.split(",")) {
  const name = `localhost/registrar-release:${platform.replaceAll("/", "-")}`;
  const layout = join(built, platform.replaceAll("/", "-"));
  const args = labels.map(([key, value]) => `--build-arg=${key}=${value}`);
  run("buildah", "build", "--layers", `--platform=${platform}`, ...args, ...flags, `--tag=${name}`, ".");
  run("buildah", "push", "--quiet", name, `oci:${layout}`);
  unpack(layout, `${layout}-root`);
  layouts.push(layout);
}
run(process.execPath, "scripts/sbom.mjs");
writeFileSync(join(folder, "sbom.cdx.json"), imageSbom(layouts.map((layout) => `${layout}-root`)));

const joined = Object.keys(COMPRESSIONS).map((compression) => [
  compression,
  joinImages(layouts, resolve(folder, compression), compression),
]);
writeFileSync(join(folder, "digests.json"), `${JSON.stringify(Object.fromEntries(joined))}\n`);
rmSync(built, { recursive: true, force: true });
