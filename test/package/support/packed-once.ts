import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type PackedPackage, pack, packedIn } from "./packed-package";

/**
 * The package, packed by the first test file of a jest run that asks for it: npm takes seconds. The others wait until it is
 * there; where it could not be packed they say why, too.
 */
export async function packedOnce(): Promise<PackedPackage> {
  const { REGISTRAR_RUN_FOLDER } = process.env;
  if (REGISTRAR_RUN_FOLDER === undefined)
    throw new Error("the global setup of jest makes a folder for each run");
  const folder = join(REGISTRAR_RUN_FOLDER, "package");
  const told = join(REGISTRAR_RUN_FOLDER, "package.json");
  if (isFirst(folder)) {
    const text = await pack(folder).catch((error: Error) => error.message);
    writeFileSync(`${told}.new`, text);
    renameSync(`${told}.new`, told);
  }
  while (!existsSync(told)) await delay(20); // Jest's limit for the test ends it.
  return packedIn(folder, await readFile(told, "utf8"));
}

/** Whoever makes the folder is. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
