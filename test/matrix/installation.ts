import { ROOT } from "../docs/markdown";
import { packPackage } from "../package/support/packed-package";
import { run, succeeded } from "../support/child-process";
import { createTempFolder } from "../support/temp-folder";

export type Installation = Awaited<ReturnType<typeof installPackage>>;

/** Packs the project once, and installs it as npm does for its users, with its dependencies. */
export async function installPackage() {
  await using packed = await packPackage();
  const folder = await createTempFolder();
  const options = ["--omit=dev", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"];
  const install = ["install", "--prefix", folder.path, ...options, packed.tarball];
  succeeded(await run("npm", install, { cwd: ROOT, lifeMs: 300_000 }));
  return {
    cli: folder.at("node_modules", "registrar", "dist", "cli.js"),
    command: folder.at("node_modules", ".bin", "registrar"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
