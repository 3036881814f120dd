import { packPackage, ROOT, succeeded } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { createTempFolder } from "../support/temp-folder";

/** The packed project as npm installs it for its users, with its dependencies. */
export interface Installation extends AsyncDisposable {
  /** The program behind the command. */
  readonly cli: string;
  /** The command as npm links it, to be run by whatever `node` is in PATH. */
  readonly command: string;
}

const INSTALLED_WITHIN_MS = 300_000;

/** Packs the project once and installs it. */
export async function installPackage(): Promise<Installation> {
  await using packed = await packPackage();
  const folder = await createTempFolder();
  const options = ["--omit=dev", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"];
  const install = ["install", "--prefix", folder.path, ...options, packed.tarball];
  succeeded(await run("npm", install, { cwd: ROOT, withinMs: INSTALLED_WITHIN_MS }));
  return {
    cli: folder.at("node_modules", "registrar", "dist", "cli.js"),
    command: folder.at("node_modules", ".bin", "registrar"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
