// The images that the job `build` made, and the digests that digests.json claims for them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Throws unless each digest is that of the one image in its layout, and every blob of it is what its name says. */
export function checkImages(folder) {
  const digests = readJson(readFileSync(join(folder, "digests.json")));
  for (const compression of ["zstd", "gzip"]) checkLayout(join(folder, compression), digests[compression]);
}

function checkLayout(layout, digest) {
  const { manifests = [] } = readJson(readFileSync(join(layout, "index.json")));
  if (manifests.length !== 1 || manifests[0].digest !== digest)
    throw new Error(
      `${layout} has the images ${manifests.map((one) => one.digest)}, and digests.json has ${digest}`,
    );
  const blobs = join(layout, "blobs", "sha256");
  const known = new Set();
  const read = ({ digest: named, urls }) => {
    const bytes = readFileSync(join(blobs, named.match(/^sha256:([0-9a-f]{64})$/)[1]));
    const is = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (is !== named || urls !== undefined)
      throw new Error(`${layout}: ${named} has the digest ${is}, or comes from elsewhere: ${urls}`);
    known.add(named.replace("sha256:", ""));
    return bytes;
  };
  for (const platform of readJson(read(manifests[0])).manifests) {
    const { config, layers } = readJson(read(platform));
    for (const blob of [config, ...layers]) read(blob);
  }
  const others = readdirSync(blobs).filter((name) => !known.has(name));
  if (others.length > 0) throw new Error(`${layout} has blobs of no image: ${others}`);
}

const readJson = (bytes) => JSON.parse(bytes.toString());
