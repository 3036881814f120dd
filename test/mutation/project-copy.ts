import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../package/support/packed-package";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

const COPIED = [
  ...["src", "test", "proto", "docs", "examples", "bench", "scripts", "dist"],
  ...["jest.config.js", "package.json", "tsconfig.json"],
];
const LINKED = ["node_modules"];
const SKIPPED = /\/(?:node_modules|built|bin)$/;

/** What the tests of a copy start: the project's own build. They would refuse one that is older than a changed file. */
export const BUILT_BEFORE = { REGISTRAR_COMMAND: `${process.execPath} ${join(ROOT, "dist", "cli.js")}` };

export async function copyProject(): Promise<TempFolder> {
  const folder = await createTempFolder();
  for (const name of COPIED)
    cpSync(join(ROOT, name), folder.at(name), { recursive: true, filter: (path) => !SKIPPED.test(path) });
  for (const name of LINKED) symlinkSync(join(ROOT, name), folder.at(name));
  return folder;
}
