import { cpSync, symlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readText } from "../../docs/markdown";
import { createTempFolder, type TempFolder } from "../temp-folder";
import { copyProgram } from "./program-files";

/** Where charts, and the exec probes in them, expect the program. */
export const ENTRY = "/csi-node-driver-registrar";
/** Where the image has Node. */
export const NODE = "/nodejs/bin/node";

const dist = join(__dirname, "..", "..", "..", "dist");

/** What the image's first line gives Node: one word at most, as Linux hands over no more. */
export function imageNodeFlags(): readonly string[] {
  const [, flag] = /\|#!\$\{NODE_BINARY\} (--\S+)\|/.exec(readText("Dockerfile")) ?? [];
  return flag === undefined ? [] : [flag];
}

/** A root folder laid out as in the image, with the image's first line: Node and the CLI, and nothing else. */
export async function createImageRoot(): Promise<TempFolder> {
  const root = await createTempFolder();
  copyProgram(process.execPath, root.path, NODE);
  for (const name of ["cli.js", "cli"])
    cpSync(join(dist, name), root.at("registrar", name), { recursive: true });
  const main = root.at("registrar", "cli.js");
  const firstLine = ["#!", NODE, " ", ...imageNodeFlags()].join("");
  await writeFile(main, (await readFile(main, "utf8")).replace(/^#!.*/, firstLine));
  symlinkSync("registrar/cli.js", root.at(ENTRY));
  return root;
}
