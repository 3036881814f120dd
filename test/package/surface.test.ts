import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder } from "../support/temp-folder";
import { ROOT, succeeded } from "./support/packed-package";
import { run } from "./support/run";

const API = join("scripts", "api.mjs");

test("every export and every member of one has a text that editors show", async () => {
  const { stdout } = succeeded(await run(process.execPath, [API, "--without-text"], { cwd: ROOT }));
  expect(stdout.trim()).toBe("");
});

test("docs/api.md is the public surface: npm run api writes it, and the changelog has each change", async () => {
  await using folder = await createTempFolder();
  const written = folder.at("api.md");
  succeeded(await run(process.execPath, [API, written], { cwd: ROOT }));
  expect(readFileSync(join(ROOT, "docs", "api.md"), "utf8")).toBe(readFileSync(written, "utf8"));
});
