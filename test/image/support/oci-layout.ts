import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** What an image says of itself (OCI image specification, `config.md`). */
interface ImageConfig {
  readonly User?: string;
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly Labels?: Readonly<Record<string, string>>;
}

export type Image = ReturnType<typeof readImage>;

export function readImage(folder: string) {
  const blob = ({ digest }: Descriptor) => join(folder, "blobs", ...digest.split(":"));
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const manifest: { readonly config: Descriptor; readonly layers: readonly Descriptor[] } = read(
    blob(read(join(folder, "index.json")).manifests[0]),
  );
  const { config, architecture }: { readonly config: ImageConfig; readonly architecture: string } = read(
    blob(manifest.config),
  );
  return {
    config,
    architecture,
    /** From the lowest to the topmost; `compressedBytes` is what is stored and pulled. */
    layers: manifest.layers.map((layer) => ({ compressedBytes: layer.size, files: filesIn(blob(layer)) })),
    unpack: (to: string) => {
      mkdirSync(to, { recursive: true });
      for (const layer of manifest.layers) execFileSync("tar", ["-xf", blob(layer), "-C", to]);
    },
  };
}

/** Modes as `ls -l` has them, owners as user ID and group ID, `0/0`. */
function filesIn(tarball: string) {
  const options = { encoding: "utf8", maxBuffer: 2 ** 26 } as const;
  const told = execFileSync("tar", ["--numeric-owner", "-tvf", tarball], options);
  const lines = told.matchAll(/^(\S+) (\S+) +(\d+) \S+ \S+ \.?\/?(.*?)(?: -> .*)?$/gm);
  return Array.from(lines, ([, mode = "", owner = "", bytes, path = ""]) => ({
    path: `/${path}`,
    mode,
    owner,
    bytes: Number(bytes),
  }));
}
