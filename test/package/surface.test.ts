import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { copyCli } from "../support/registrar-command";
import { createTempFolder } from "../support/temp-folder";
import { ROOT, succeeded } from "./support/packed-package";
import { run } from "./support/run";

const runScript = async (name: string, ...words: readonly string[]) =>
  succeeded(await run(process.execPath, [join("scripts", name), ...words], { cwd: ROOT }));

test("docs/api.md is the public surface: npm run api writes it, and the changelog has each change", async () => {
  await using folder = await createTempFolder();
  const written = folder.at("api.md");
  await runScript("api.mjs", written);
  expect(readFileSync(join(ROOT, "docs", "api.md"), "utf8")).toBe(readFileSync(written, "utf8"));
});

test("V8 takes the image's code cache: the script that makes it fails where V8 refuses it", async () => {
  await using folder = await createTempFolder();
  copyCli(folder.path);
  await runScript("code-cache.mjs", folder.at("cli.js"));
  for (const part of ["main", "register"]) expect(existsSync(folder.at("cli", `${part}.cache`))).toBe(true);
});
