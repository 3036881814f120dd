// node scripts/release/build.mjs FOLDER REPOSITORY... [-- FLAG...]: builds the image for each platform in PLATFORMS, and pushes it
// to each repository by its digest, without a tag: once with zstd, once with gzip. FOLDER/digests.json has both digests, and
// FOLDER/sbom.cdx.json lists what is in the image. The flags are buildah's. VERSION, REVISION, SOURCE and CREATED
// (RFC 3339) become labels, and so does the digest of the base.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readWords, run } from "./command.mjs";
import { imageSbom } from "./image-sbom.mjs";
import { COMPRESSIONS, joinImages, unpack } from "./layout.mjs";

const { words, flags } = readWords();
const [folder, ...repositories] = words;
if (folder === undefined || repositories.length === 0) throw new Error("name a folder and a repository");
const PLATFORMS_OF_NODE = "linux/amd64,linux/arm64,linux/ppc64le,linux/s390x";
const { PLATFORMS = PLATFORMS_OF_NODE, VERSION, REVISION, SOURCE, CREATED } = process.env;
const [, BASE_DIGEST] = /^ARG RUNTIME_IMAGE=\S+@(\S+)$/m.exec(readFileSync("Dockerfile", "utf8")) ?? [];
const labels = Object.entries({ VERSION, REVISION, SOURCE, CREATED, BASE_DIGEST }).filter(
  ([, value]) => value !== undefined,
);

mkdirSync(folder, { recursive: true });
const layouts = [];
for (const platform of PLATFORMS.split(",")) {
  const name = `localhost/registrar-release:${platform.replaceAll("/", "-")}`;
  const layout = resolve(folder, platform.replaceAll("/", "-"));
  const args = labels.map(([key, value]) => `--build-arg=${key}=${value}`);
  run("buildah", "build", "--layers", `--platform=${platform}`, ...args, ...flags, `--tag=${name}`, ".");
  run("buildah", "push", "--quiet", name, `oci:${layout}`);
  unpack(layout, `${layout}-root`);
  layouts.push(layout);
}
run(process.execPath, "scripts/sbom.mjs");
writeFileSync(join(folder, "sbom.cdx.json"), imageSbom(layouts.map((layout) => `${layout}-root`)));

const digests = {};
for (const compression of Object.keys(COMPRESSIONS)) {
  const layout = resolve(folder, compression);
  digests[compression] = joinImages(layouts, layout, compression);
  for (const repository of repositories)
    run(
      ...["skopeo", "copy", "--quiet", "--all", "--preserve-digests"],
      ...[`oci:${layout}`, `docker://${repository}@${digests[compression]}`],
    );
}
writeFileSync(join(folder, "digests.json"), `${JSON.stringify(digests)}\n`);
