import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

export const DIST = join(__dirname, "..", "..", "dist");

export function copyCli(folder: string): void {
  for (const name of ["cli.js", "cli"]) cpSync(join(DIST, name), join(folder, name), { recursive: true });
}

const BUILT = join(DIST, "cli.js");

/** What starts the registrar under test: the words in REGISTRAR_COMMAND, or the built CLI. */
export function registrarCommand(): readonly [program: string, ...words: string[]] {
  const [program, ...words] = process.env.REGISTRAR_COMMAND?.trim().split(/\s+/) ?? [];
  if (program) return [program, ...words];
  const newer = process.env.REGISTRAR_NEWER_SOURCE;
  if (newer) throw new Error(`dist/ is older than src/${newer}: run npm run build first`);
  const cli = process.env.REGISTRAR_CLI ?? BUILT;
  if (!existsSync(cli)) throw new Error(`there is no ${cli}: run npm run build first`);
  return [process.execPath, cli];
}
