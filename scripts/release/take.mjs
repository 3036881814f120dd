// node scripts/release/take.mjs TAR SHA256 FOLDER: unpacks into FOLDER what the job `build` handed over, and prints where it is, as
// lines of GITHUB_ENV: RELEASE is FOLDER, TARBALL the package. `build` runs code of dependencies, so it refuses another digest, links,
// which could publish a file of the next job, any package but the one that packed.json names and `test` tries, one that has more
// than the checkout outside of dist/, and digests of other images than those that `test` runs.
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { run } from "./command.mjs";
import { checkImages } from "./layouts.mjs";
import { checkTarball } from "./tarball.mjs";

const [tar, sha256, target] = process.argv.slice(2);

function take(folder) {
  if (!relative("", folder).startsWith(".."))
    throw new Error(`${folder} is in the checkout, whose scripts run later: name a folder outside`);
  const digest = createHash("sha256").update(readFileSync(tar)).digest("hex");
  if (digest !== sha256) throw new Error(`${tar} has the digest ${digest}, and the job build made ${sha256}`);
  mkdirSync(folder);
  run("tar", "--extract", "--no-same-owner", "--file", tar, "--directory", folder);
  for (const path of pathsBelow(folder)) {
    const entry = lstatSync(path);
    if (!entry.isDirectory() && !(entry.isFile() && entry.nlink === 1))
      throw new Error(`${path} is neither a directory nor a regular file with one name`);
  }
  const tarball = tarballIn(join(folder, "packed"));
  checkTarball(tarball);
  checkImages(join(folder, "image"));
  process.stdout.write(`RELEASE=${folder}\nTARBALL=${tarball}\n`);
}

/** Does not follow links. */
function pathsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...pathsBelow(path)] : [path];
  });
}

function tarballIn(packed) {
  const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));
  const wanted = `${name}-${version}.tgz`;
  const [told] = JSON.parse(readFileSync(join(packed, "packed.json"), "utf8"));
  const others = readdirSync(packed).filter((file) => file !== "packed.json");
  if (told?.filename !== wanted || others.join() !== wanted)
    throw new Error(
      `${packed} has ${others}, and packed.json names ${told?.filename}: both must be ${wanted}`,
    );
  return join(packed, wanted);
}

try {
  if (target === undefined) throw new Error("name an archive, its digest and a folder");
  take(resolve(target));
} catch (error) {
  process.stderr.write(`scripts/release/take.mjs: ${error.message}\n`);
  process.exitCode = 1;
}
