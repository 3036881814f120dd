import { cpSync } from "node:fs";
import { join } from "node:path";

export const DIST = join(__dirname, "..", "..", "dist");

export function copyCli(folder: string): void {
  for (const name of ["cli.js", "cli"]) cpSync(join(DIST, name), join(folder, name), { recursive: true });
}
