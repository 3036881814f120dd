import { cpSync } from "node:fs";
import { join } from "node:path";

/** What `npm run build` makes. */
export const DIST = join(__dirname, "..", "..", "dist");

/** Copies the built CLI, the file that starts it and its parts, into a folder. */
export function copyCli(folder: string): void {
  for (const name of ["cli.js", "cli"]) cpSync(join(DIST, name), join(folder, name), { recursive: true });
}
