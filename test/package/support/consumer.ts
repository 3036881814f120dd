import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTempFolder } from "../../support/temp-folder";
import { packageJson, packPackage, ROOT } from "./packed-package";
import { type Finished, type RunOptions, run } from "./run";

/** A project of somebody who uses the packed package. */
export interface Consumer extends AsyncDisposable {
  readonly folder: string;
  write(file: string, text: string): Promise<void>;
  /** Runs Node in the project's folder. */
  node(args: readonly string[], options?: Omit<RunOptions, "cwd">): Promise<Finished>;
  /** Checks files of the project as strictly as TypeScript can. */
  checkTypes(files: readonly string[], moduleOptions: readonly string[]): Promise<Finished>;
}

/** Makes a project in which the package is installed. Its dependencies are links to ours: nothing is downloaded. */
export async function createConsumer(): Promise<Consumer> {
  const folder = await createTempFolder();
  await using packed = await packPackage();
  await packed.unpack(folder.at("node_modules", "registrar"));
  for (const name of [...Object.keys(packageJson.dependencies), "@types/node"]) {
    const link = folder.at("node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), link);
  }
  return {
    folder: folder.path,
    write: (file, text) => writeFile(folder.at(file), text),
    node: (args, options) => run(process.execPath, args, { ...options, cwd: folder.path }),
    checkTypes: (files, moduleOptions) => {
      const strictly = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
      const withUs = ["--skipLibCheck", "false", "--target", "es2022", "--types", "node"];
      const tsc = join(ROOT, "node_modules", ".bin", "tsc");
      return run(tsc, [...strictly, ...withUs, ...moduleOptions, ...files], { cwd: folder.path });
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
