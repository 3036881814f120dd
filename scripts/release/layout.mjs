// Images as the OCI lays them out in a folder (image specification, `image-layout.md`): read, compressed, joined and unpacked.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

const INDEX = "application/vnd.oci.image.index.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** How a layer is compressed, for a small download: it is compressed once and pulled by every node. */
export const COMPRESSIONS = {
  zstd: { suffix: "+zstd", command: ["zstd", "-q", "-19", "-T0", "--stdout"] },
  gzip: { suffix: "+gzip", command: ["gzip", "-9", "--no-name", "--stdout"] },
};

const blobOf = (layout, { digest }) => join(layout, "blobs", ...digest.split(":"));
const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));

/** The manifest of a layout with one image, and its configuration. */
export function readImage(layout) {
  const manifest = readJson(blobOf(layout, readJson(join(layout, "index.json")).manifests[0]));
  return { manifest, config: readJson(blobOf(layout, manifest.config)) };
}

/** Unpacks the layers over each other; none of ours removes a file of another. */
export function unpack(layout, folder) {
  mkdirSync(folder, { recursive: true });
  for (const layer of readImage(layout).manifest.layers)
    execFileSync("tar", ["--extract", "--file", blobOf(layout, layer), "--directory", folder]);
}

/** Joins images, one of each platform, to one layout with layers compressed anew; returns the digest of its index. */
export function joinImages(layouts, to, compression) {
  const { suffix, command } = COMPRESSIONS[compression];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, "blobs", "sha256"), { recursive: true });
  const manifests = [];
  for (const layout of layouts) {
    const { manifest, config } = readImage(layout);
    const layers = [];
    for (const layer of manifest.layers) {
      const tar = join(to, "layer.tar");
      const bytes = readFileSync(blobOf(layout, layer));
      writeFileSync(tar, layer.mediaType.endsWith("+gzip") ? gunzipSync(bytes) : bytes);
      const output = execFileSync(command[0], [...command.slice(1), tar], { maxBuffer: 2 ** 30 });
      rmSync(tar);
      layers.push(store(to, `${LAYER}${suffix}`, output));
    }
    const stored = store(to, manifest.config.mediaType, readFileSync(blobOf(layout, manifest.config)));
    const { os, architecture } = config;
    const text = JSON.stringify({ ...manifest, mediaType: MANIFEST, config: stored, layers });
    manifests.push({ ...store(to, MANIFEST, text), platform: { architecture, os } });
  }
  const index = store(to, INDEX, JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests }));
  writeFileSync(join(to, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(join(to, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [index] }));
  return index.digest;
}

function store(layout, mediaType, content) {
  const bytes = Buffer.from(content);
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  writeFileSync(blobOf(layout, { digest }), bytes);
  return { mediaType, digest, size: bytes.length };
}
