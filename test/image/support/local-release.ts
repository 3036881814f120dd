import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { eventually } from "../../support/eventually";
import type { TempFolder } from "../../support/temp-folder";
import { createBuildah, npmSettings, unmountBelow } from "./buildah";
import { type ForeignNode, LABELS, makeRegistrarBases } from "./stand-in-bases";

export const CACHE = join(ROOT, "node_modules", ".cache", "release");
const PROGRAMS = {
  registry: "github.com/distribution/distribution/v3/cmd/registry@v3.1.2",
  cosign: "github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3",
};
export const NAMES = ["team/registrar", "team/csi-node-driver-registrar"] as const;

/** A registry on this machine, and the images that the release's first step built for it; none is pushed. */
export type LocalRelease = Awaited<ReturnType<typeof releaseLocally>>;

interface ReleaseOptions {
  readonly node: string;
  readonly platforms: readonly string[];
  readonly arm64?: ForeignNode | undefined;
}

export async function releaseLocally(folder: TempFolder, options: ReleaseOptions) {
  const { host, stop } = await startRegistry(folder);
  try {
    return { ...buildAll(folder, host, options), stop };
  } catch (error) {
    await stop();
    unmountBelow(folder.path);
    throw error;
  }
}

function buildAll(folder: TempFolder, host: string, { node, platforms, arm64 }: ReleaseOptions) {
  const { env, buildah, commit } = createBuildah(folder.path, {
    ...{ PATH: `${CACHE}:${process.env.PATH}`, COSIGN_PASSWORD: "", HOME: homeOf(folder, host) },
    ...{ ...LABELS, PLATFORMS: platforms.join() },
  });
  const script = (name: string, ...args: readonly string[]) => {
    const options = { cwd: ROOT, env, encoding: "utf8", maxBuffer: 2 ** 26 } as const;
    const words = [join("scripts", "release", name), ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
    if (status !== 0) throw new Error(`${name} ended with ${status}:\n${stdout}\n${stderr}`);
    return stdout;
  };

  const bases = platforms.map((platform) => {
    mkdirSync(folder.at(platform), { recursive: true });
    const foreign = platform === "linux/arm64" ? arm64 : undefined;
    return [platform.slice("linux/".length), makeRegistrarBases(folder.at(platform), node, foreign)] as const;
  });
  for (const name of ["build", "runtime"] as const) {
    buildah("manifest", "create", name);
    for (const [architecture, { [name]: base }] of bases) {
      const image = commit(base.root, base.variables, `--arch=${architecture}`);
      buildah("manifest", "add", `--arch=${architecture}`, "--os=linux", name, image);
    }
    buildah("manifest", "push", "-q", "--all", name, `docker://${host}/${name}:1`);
  }
  const repositories = NAMES.map((name) => `${host}/${name}`);
  const imageOf = (name: string) => `--build-arg=${name.toUpperCase()}_IMAGE=${host}/${name}:1`;
  const flags = ["--network=host", ...npmSettings(), ...["build", "runtime"].map(imageOf)];
  script("build.mjs", folder.at("release"), "--", ...flags);
  return {
    ...{ host, repositories, env, script },
    digests: JSON.parse(readFileSync(folder.at("release", "digests.json"), "utf8")) as Readonly<
      Record<"zstd" | "gzip", string>
    >,
    push: (reference: string, root: string) => {
      buildah("push", "-q", commit(root), `docker://${reference}`);
    },
  };
}

interface Manifest {
  readonly layers?: readonly { readonly size: number }[];
  readonly manifests?: readonly {
    readonly digest: string;
    readonly platform: { readonly architecture: string };
  }[];
}

export async function pulledLayers(
  host: string,
  { repository, reference, architecture }: { repository: string; reference: string; architecture: string },
): Promise<readonly number[]> {
  const kinds = ["manifest", "index"].map((kind) => `application/vnd.oci.image.${kind}.v1+json`);
  const url = `http://${host}/v2/${repository}/manifests/${reference}`;
  const answer = await fetch(url, { headers: { accept: kinds.join() } });
  const { layers, manifests } = (await answer.json()) as Manifest;
  if (layers !== undefined) return layers.map(({ size }) => size);
  const found = manifests?.find(({ platform }) => platform.architecture === architecture);
  if (found === undefined) throw new Error(`${url} has no image for ${architecture}`);
  return await pulledLayers(host, { repository, reference: found.digest, architecture });
}

export function installPrograms(...names: readonly (keyof typeof PROGRAMS)[]): void {
  mkdirSync(CACHE, { recursive: true });
  const options = { cwd: CACHE, env: { ...process.env, GOBIN: CACHE }, stdio: "pipe" } as const;
  for (const name of names)
    execFileSync("go", ["install", "-p=1", "-trimpath", "-ldflags=-s -w", PROGRAMS[name]], options);
}

async function startRegistry(folder: TempFolder) {
  installPrograms("registry");
  const config = `version: 0.1\nstorage: {filesystem: {rootdirectory: ${folder.at("registry")}}}\nhttp: {addr: "127.0.0.1:0"}\n`;
  writeFileSync(folder.at("registry.yml"), config);
  // Into a file: nothing here reads a pipe while a script runs, and a full one stops the registry.
  const log = folder.at("registry.log");
  const output = openSync(log, "w");
  const env = { ...process.env, OTEL_TRACES_EXPORTER: "none" };
  const child = spawn(join(CACHE, "registry"), ["serve", folder.at("registry.yml")], {
    ...{ env, stdio: ["ignore", "ignore", output] },
  });
  closeSync(output);
  const ended = once(child, "close");
  const host = await eventually(() => {
    const text = readFileSync(log, "utf8");
    const [, found] = /listening on (127\.0\.0\.1:\d+)/.exec(text) ?? [];
    if (found === undefined) throw new Error(`the registry does not listen: ${text}`);
    return found;
  });
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { host, stop };
}

/** A home folder whose settings allow the registry to speak plain HTTP. */
function homeOf(folder: TempFolder, host: string): string {
  const settings = folder.at("home", ".config", "containers");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "registries.conf"), `[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
  return folder.at("home");
}
