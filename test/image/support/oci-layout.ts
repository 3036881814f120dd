import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** What an image says of itself (OCI image specification, `config.md`). */
export interface ImageConfig {
  readonly User?: string;
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly Labels?: Readonly<Record<string, string>>;
}

export interface Image {
  readonly config: ImageConfig;
  readonly architecture: string;
  /** From the lowest to the topmost; `compressedBytes` is what is stored and pulled. */
  readonly layers: readonly { readonly compressedBytes: number; readonly files: readonly LayerFile[] }[];
  /** Puts all layers over each other into a folder. */
  unpack(folder: string): void;
}

interface LayerFile {
  readonly path: string;
  /** As `ls -l` has it: `-rwxr-xr-x`. */
  readonly mode: string;
  /** `0/0`: user ID and group ID. */
  readonly owner: string;
  readonly bytes: number;
}

/** Reads a folder in the OCI's image layout that holds one image. */
export function readImage(folder: string): Image {
  const blob = ({ digest }: Descriptor) => join(folder, "blobs", ...digest.split(":"));
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const manifest: { readonly config: Descriptor; readonly layers: readonly Descriptor[] } = read(
    blob(read(join(folder, "index.json")).manifests[0]),
  );
  const { config, architecture } = read(blob(manifest.config));
  return {
    config,
    architecture,
    layers: manifest.layers.map((layer) => ({ compressedBytes: layer.size, files: filesIn(blob(layer)) })),
    unpack: (to) => {
      mkdirSync(to, { recursive: true });
      for (const layer of manifest.layers) execFileSync("tar", ["-xf", blob(layer), "-C", to]);
    },
  };
}

function filesIn(tarball: string): readonly LayerFile[] {
  const told = execFileSync("tar", ["--numeric-owner", "-tvf", tarball], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const lines = told.matchAll(/^(\S+) (\S+) +(\d+) \S+ \S+ \.?\/?(.*?)(?: -> .*)?$/gm);
  return Array.from(lines, ([, mode = "", owner = "", bytes, path = ""]) => ({
    path: `/${path}`,
    mode,
    owner,
    bytes: Number(bytes),
  }));
}
