// node scripts/release/ready.mjs: whether this commit may be released. Fails with a line for each reason why not: a base of the image,
// or an image that a workflow runs, without a digest, a variable of the repository that is not set, an address of a project that is still example.com's.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basesOf, imagesOf } from "./bases.mjs";

/** What the package and the image are made of, and what a release shows. */
const PUBLISHED = ["package.json", "*.md", "docs", "examples", "src", "proto"];
/** Our own repository and images while they have no address; `disk.example.com` is a driver of an example, and stays. */
const PLACEHOLDER = /(?<![\w.-])example\.com\/(?:csi-node-driver-)?registrar\b/;

function unpinned() {
  const bases = basesOf(readFileSync("Dockerfile", "utf8"));
  return ["BUILD_IMAGE", "RUNTIME_IMAGE"]
    .filter((name) => bases[name]?.digest === undefined)
    .map((name) => `Dockerfile: ${name} has no digest: write IMAGE@sha256:DIGEST`);
}

/** Such an image may run beside what is built, with any right: QEMU's is privileged. */
function unpinnedInWorkflows() {
  return filesOf(".github/workflows").flatMap((file) => {
    const images = imagesOf(readFileSync(file, "utf8")).filter(({ digest }) => digest === undefined);
    const names = new Set(images.map(({ image }) => image));
    return Array.from(names, (name) => `${file}: ${name} has no digest: write IMAGE@sha256:DIGEST`);
  });
}

function unset() {
  return ["IMAGE", "IMAGE_REGISTRY", "IMAGE_USER"]
    .filter((name) => !process.env[name])
    .map((name) => `the variable ${name} of the repository is not set`);
}

function placeholders() {
  return filesOf(...PUBLISHED)
    .filter((file) => PLACEHOLDER.test(readFileSync(file, "utf8")))
    .map((file) => `${file} names example.com in place of this project's address`);
}

function filesOf(...paths) {
  const files = execFileSync("git", ["ls-files", "-z", ...paths], { encoding: "utf8" }).split("\0");
  return files.filter((file) => file !== "");
}

const problems = [...unpinned(), ...unpinnedInWorkflows(), ...unset(), ...placeholders()];
for (const problem of problems) process.stderr.write(`scripts/release/ready.mjs: ${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
