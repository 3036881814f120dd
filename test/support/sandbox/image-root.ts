import { symlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { readText } from "../../docs/markdown";
import { copyCli } from "../registrar-command";
import { createTempFolder, type TempFolder } from "../temp-folder";
import { copyProgram } from "./program-files";

export const ENTRY = "/csi-node-driver-registrar";
export const NODE = "/nodejs/bin/node";

/** A root folder laid out as in the image, with the image's first line: Node and the CLI, and nothing else. */
export async function createImageRoot(): Promise<TempFolder> {
  const root = await createTempFolder();
  copyProgram(process.execPath, root.path, NODE);
  copyCli(root.at("registrar"));
  const main = root.at("registrar", "cli.js");
  // A flag of the image's Node that this older one does not know would end it with 9.
  const [, given = ""] = /\|#!\$\{NODE_BINARY\}([^|]*)\|/.exec(readText("Dockerfile")) ?? [];
  const flags = process.allowedNodeEnvironmentFlags.has(given.trim()) ? given : "";
  await writeFile(main, (await readFile(main, "utf8")).replace(/^#!.*/, `#!${NODE}${flags}`));
  symlinkSync("registrar/cli.js", root.at(ENTRY));
  return root;
}
