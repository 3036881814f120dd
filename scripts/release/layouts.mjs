// The images that the job `build` made, and the digests that digests.json claims for them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Throws unless each digest is that of the one image in its layout, with one for each platform, and every blob of it is what its
 * name says: what a node runs is what the job `test` tried.
 */
export function checkImages(folder) {
  const digests = readJson(readFileSync(join(folder, "digests.json")));
  for (const compression of ["zstd", "gzip"]) checkLayout(join(folder, compression), digests[compression]);
}

/** All keys that a layout of ours has: Go reads JSON without regard to case, so that `Urls` would be `urls` to it. */
const KEYS = {
  descriptor: ["mediaType", "digest", "size"],
  index: ["schemaVersion", "mediaType", "manifests"],
  manifest: ["schemaVersion", "mediaType", "config", "layers", "annotations"],
  platform: ["architecture", "os"],
};

function checkKeys(layout, object, keys) {
  const others = Object.keys(object).filter((key) => !keys.includes(key));
  if (others.length > 0) throw new Error(`${layout} has what an image of ours has not: ${others}`);
  return object;
}

function checkLayout(layout, digest) {
  const { manifests = [] } = checkKeys(
    layout,
    readJson(readFileSync(join(layout, "index.json"))),
    KEYS.index,
  );
  if (manifests.length !== 1 || manifests[0].digest !== digest)
    throw new Error(
      `${layout} has the images ${manifests.map((one) => one.digest)}, and digests.json has ${digest}`,
    );
  const blobs = join(layout, "blobs", "sha256");
  const known = new Set();
  const read = (descriptor) => {
    const { digest: named } = checkKeys(layout, descriptor, KEYS.descriptor);
    const bytes = readFileSync(join(blobs, named.match(/^sha256:([0-9a-f]{64})$/)[1]));
    const is = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (is !== named) throw new Error(`${layout}: ${named} has the digest ${is}`);
    known.add(named.replace("sha256:", ""));
    return bytes;
  };
  const index = checkKeys(layout, readJson(read(manifests[0])), KEYS.index);
  const platforms = index.manifests.map(({ platform, ...image }) => {
    const { config, layers } = checkKeys(layout, readJson(read(image)), KEYS.manifest);
    for (const blob of [config, ...layers]) read(blob);
    const { os, architecture } = checkKeys(layout, platform, KEYS.platform);
    return `${os}/${architecture}`;
  });
  if (new Set(platforms).size < platforms.length)
    throw new Error(`${layout} has two images of one platform: ${platforms}`);
  const others = readdirSync(blobs).filter((name) => !known.has(name));
  if (others.length > 0) throw new Error(`${layout} has blobs of no image: ${others}`);
}

const readJson = (bytes) => JSON.parse(bytes.toString());
