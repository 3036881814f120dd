import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../docs/markdown";
import { run, succeeded } from "../../support/child-process";
import { createTempFolder } from "../../support/temp-folder";

export async function packPackage() {
  const folder = await createTempFolder();
  const json = await pack(folder.path);
  const [told] = JSON.parse(json) as readonly {
    readonly filename: string;
    readonly size: number;
    readonly unpackedSize: number;
    readonly files: readonly { readonly path: string }[];
  }[];
  if (told === undefined) throw new Error(`scripts/pack.mjs printed nothing: ${json}`);
  const files = told.files.map(({ path }) => path).sort();
  if (!files.includes("dist/index.js")) throw new Error("nothing is built: npm run build");
  const tarball = folder.at(told.filename);
  return {
    tarball,
    files,
    packedBytes: told.size,
    unpackedBytes: told.unpackedSize,
    unpack: async (into: string) => {
      await mkdir(into, { recursive: true });
      succeeded(await run("tar", ["-xzf", tarball, "-C", into, "--strip-components=1"], { cwd: into }));
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Packs into a folder; npm's description of it, in JSON. A release packs first, and names the folder in REGISTRAR_PACKED. */
async function pack(folder: string): Promise<string> {
  const { REGISTRAR_PACKED } = process.env;
  if (REGISTRAR_PACKED !== undefined) {
    await cp(REGISTRAR_PACKED, folder, { recursive: true });
    return await readFile(join(folder, "packed.json"), "utf8");
  }
  const words = [join("scripts", "pack.mjs"), folder];
  return succeeded(await run(process.execPath, words, { cwd: ROOT })).stdout;
}

export type Installation = Awaited<ReturnType<typeof installPackage>>;

/** Packs the project once, and installs it as npm does for its users, with its dependencies. */
export async function installPackage() {
  await using packed = await packPackage();
  const folder = await createTempFolder();
  const options = ["--omit=dev", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"];
  const install = ["install", "--prefix", folder.path, ...options, packed.tarball];
  succeeded(await run("npm", install, { cwd: ROOT, lifeMs: 300_000 }));
  return {
    cli: folder.at("node_modules", "registrar", "dist", "cli.js"),
    command: folder.at("node_modules", ".bin", "registrar"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
