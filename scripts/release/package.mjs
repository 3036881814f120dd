// node scripts/release/package.mjs check: fails if the registry would refuse this workflow's identity, because it does not know the
// package yet.
// node scripts/release/package.mjs publish TARBALL [-- FLAG...]: publishes it, unless the registry has this very tarball: a release
// that ended half done is run again. The flags are npm's.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readWords, run } from "./command.mjs";
import { checkTarball } from "./tarball.mjs";

const { words, flags } = readWords();
const [verb, tarball] = words;
const { name, version } = JSON.parse(readFileSync("package.json", "utf8"));

/** The repository's variable, so that no file that a dependency could write names it. */
const { NPM_REGISTRY = "" } = process.env;

/** What no file of a package, of a user or of a project may change: npm prefers a flag. The last flag of a name counts. */
const SETTINGS = [
  ...[`--registry=${NPM_REGISTRY}`, "--replace-registry-host=never", "--strict-ssl"],
  ...["--proxy=null", "--https-proxy=null", "--ignore-scripts"],
];

/** What the registry has of a package or a version; undefined if it does not know it. */
function ask(spec, field) {
  if (!NPM_REGISTRY.startsWith("https://"))
    throw new Error(
      `the variable NPM_REGISTRY is "${NPM_REGISTRY}"; it takes npm's registry, as https://HOST/`,
    );
  const words = ["--json", ...SETTINGS, ...flags];
  const { status, stdout, stderr } = spawnSync("npm", ["view", spec, field, ...words], { encoding: "utf8" });
  const answer = stdout.trim() === "" ? undefined : JSON.parse(stdout);
  if (status === 0) return answer;
  if (answer?.error?.code === "E404") return undefined;
  throw new Error(`npm view ${spec}: ${answer?.error?.summary ?? stderr.trim()}`);
}

function check() {
  if (ask(name, "name") !== undefined) return;
  throw new Error(
    `the registry does not know ${name}: it takes a workflow's identity only for a package that exists. ` +
      "A person publishes the first version by hand: RELEASING.md, The first release",
  );
}

/** What `npm install` takes without a version is the newest release, and no fix of an older one that comes later. */
function tagFor(newest) {
  if (version.includes("-")) return "next";
  const [own, latest] = [version, newest ?? "0.0.0"].map((text) => text.split(/[.-]/).map(Number));
  const at = own.findIndex((number, nth) => number !== latest[nth]);
  return at < 0 || own[at] > latest[at] ? "latest" : `release-${own[0]}.${own[1]}`;
}

function publish() {
  checkTarball(tarball);
  const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  const published = ask(`${name}@${version}`, "dist.integrity");
  if (published === undefined) {
    const tag = `--tag=${tagFor(ask(name, "dist-tags.latest"))}`;
    return run("npm", "publish", tarball, ...SETTINGS, tag, ...flags);
  }
  if (published !== integrity)
    throw new Error(`${name}@${version} is published with ${published}, and ${tarball} has ${integrity}`);
  process.stdout.write(`${name}@${version} is published already\n`);
}

try {
  if (verb === "check") check();
  else if (verb === "publish" && tarball !== undefined) publish();
  else throw new Error("write check, or publish and a tarball");
} catch (error) {
  process.stderr.write(`scripts/release/package.mjs: ${error.message}\n`);
  process.exitCode = 1;
}
