import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";

type Variables = Readonly<Record<string, string>>;

export type Buildah = ReturnType<typeof createBuildah>;

const EXTRA_CERTIFICATES = "/etc/extra-certificates.pem";

/** Overlays, where this user may mount them: vfs copies the whole root for each step of a Dockerfile. */
function storageSettings(folder: string): string {
  const tried = ["--root", join(folder, "tried"), "--runroot", join(folder, "tried-run")];
  const { status } = spawnSync("buildah", [...tried, "--storage-driver=overlay", "info"], {
    stdio: "ignore",
  });
  const driver = status === 0 ? "overlay" : "vfs";
  const [root, run] = ["store", "run"].map((name) => join(folder, name));
  return `[storage]\ndriver = "${driver}"\ngraphroot = "${root}"\nrunroot = "${run}"\n`;
}

export function unmountBelow(folder: string): void {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n").reverse();
  for (const [, point = ""] of mounts.map((line) => line.split(" ")))
    if (point.startsWith(`${folder}/`)) spawnSync("umount", ["--lazy", point]);
}

/** Runs buildah with a store in `folder`; `env` is for other programs that are to use it. */
export function createBuildah(folder: string, variables: NodeJS.ProcessEnv = {}) {
  const settings = join(folder, "storage.conf");
  writeFileSync(settings, storageSettings(folder));
  const own = { BUILDAH_ISOLATION: "chroot", CONTAINERS_STORAGE_CONF: settings };
  const env = { ...process.env, ...own, ...variables };
  const options = { cwd: ROOT, env, encoding: "utf8", stdio: "pipe", maxBuffer: 2 ** 26 } as const;
  const buildah = (...args: readonly string[]) => {
    try {
      return execFileSync("buildah", args, options).trim();
    } catch (error) {
      unmountBelow(folder);
      throw error;
    }
  };
  /** Makes an image of a root folder, whose programs run with these variables: its ID. */
  const commit = (root: string, variables: Variables = {}, ...flags: readonly string[]) => {
    const container = buildah("from", "scratch");
    buildah("copy", "-q", container, root, "/");
    const settings = Object.entries(variables).map(([key, value]) => `--env=${key}=${value}`);
    buildah("config", ...settings, ...flags, container);
    return buildah("commit", "-q", "--rm", container);
  };
  return {
    ...{ env, buildah, commit },
    /** The same with a name; `entrypoint` is what a container runs. */
    imageOf: (root: string, name: string, variables: Variables, entrypoint?: readonly string[]) => {
      const flags = entrypoint ? [`--entrypoint=${JSON.stringify(entrypoint)}`] : [];
      buildah("tag", commit(root, variables, ...flags), name);
    },
    build: (name: string, args: Variables, context = ".") => {
      const flags = Object.entries(args).map(([key, value]) => `--build-arg=${key}=${value}`);
      buildah("build", "--layers", "--network=host", ...npmSettings(), ...flags, `--tag=${name}`, context);
    },
    write: (name: string, to: string) => void buildah("push", "-q", name, `oci:${to}`),
    /** Writes an image to a tarball that has its name, as `docker save` does: every runtime can load it. */
    archive: (name: string, file: string) =>
      void buildah("push", "-q", name, `docker-archive:${file}:${name}`),
  };
}

/** Variables that a build base needs besides PATH, so that npm reaches the registry that it reaches here. */
export const BUILD_VARIABLES: Variables = process.env.NODE_EXTRA_CA_CERTS
  ? { NODE_EXTRA_CA_CERTS: EXTRA_CERTIFICATES }
  : {};

/** Flags that mount this machine's settings of npm, mounted while the image is built and in no layer of it. */
export function npmSettings(): readonly string[] {
  const settings = process.env.npm_config_userconfig ?? join(homedir(), ".npmrc");
  const certificates = process.env.NODE_EXTRA_CA_CERTS;
  return [
    ...(existsSync(settings) ? [`--volume=${settings}:/root/.npmrc:ro`] : []),
    ...(certificates ? [`--volume=${certificates}:${EXTRA_CERTIFICATES}:ro`] : []),
  ];
}
