import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { packages } from "../../../package-lock.json";
import { ROOT } from "../../docs/markdown";
import { type RunOptions, run } from "../../support/child-process";
import { createTempFolder } from "../../support/temp-folder";
import { packPackage } from "./packed-package";

/** The packages that npm installs with this one, by the lock file: a module that needs another cannot be loaded. */
export function packagesOfUsers(): readonly string[] {
  return Object.entries(packages).flatMap(([path, one]) => (path === "" || "dev" in one ? [] : [path]));
}

export async function createConsumer() {
  const folder = await createTempFolder();
  await using packed = await packPackage();
  for (const path of packagesOfUsers()) await cp(join(ROOT, path), folder.at(path), { recursive: true });
  await packed.unpack(folder.at("node_modules", "registrar"));
  return {
    folder: folder.path,
    write: (file: string, text: string) => writeFile(folder.at(file), text),
    node: (args: readonly string[], options?: Omit<RunOptions, "cwd">) =>
      run(process.execPath, args, { ...options, cwd: folder.path }),
    checkTypes: (files: readonly string[], moduleOptions: readonly string[]) => {
      const strictly = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
      const withUs = ["--skipLibCheck", "false", "--target", "es2022", "--types", "node", "--singleThreaded"];
      const tsc = join(ROOT, "node_modules", ".bin", "tsc");
      return run(tsc, [...strictly, ...withUs, ...moduleOptions, ...files], { cwd: folder.path });
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
