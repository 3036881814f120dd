import { existsSync } from "node:fs";
import { join } from "node:path";
import { copyCli } from "../support/built-cli";
import { createTempFolder } from "../support/temp-folder";
import { ROOT, succeeded } from "./support/packed-package";
import { run } from "./support/run";

test("the image's code cache is one that V8 takes: the script that makes it fails where V8 refuses it", async () => {
  await using folder = await createTempFolder();
  copyCli(folder.path);
  succeeded(
    await run(process.execPath, [join("scripts", "code-cache.mjs"), folder.at("cli.js")], { cwd: ROOT }),
  );
  for (const part of ["main", "register"]) expect(existsSync(folder.at("cli", `${part}.cache`))).toBe(true);
});
