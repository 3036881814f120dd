import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { run, succeeded } from "../support/child-process";
import { createTempFolder } from "../support/temp-folder";

const API = join("scripts", "api.mjs");

test("every export and every member of one has a text that editors show", async () => {
  const { stdout } = succeeded(await run(process.execPath, [API, "--without-text"], { cwd: ROOT }));
  expect(stdout.trim()).toBe("");
});

test("docs/api.md is the public surface: npm run api writes it, with what a type lists, without comments", async () => {
  await using folder = await createTempFolder();
  cpSync(join(ROOT, "dist"), folder.at("dist"), { recursive: true });
  const written = async (change: (text: string) => string) => {
    const [events, file] = [folder.at("dist/registrar/model/events.d.ts"), folder.at("api.md")];
    writeFileSync(events, change(readFileSync(events, "utf8")));
    succeeded(await run(process.execPath, [join(ROOT, API), file], { cwd: folder.path }));
    return readFileSync(file, "utf8");
  };
  const page = readFileSync(join(ROOT, "docs", "api.md"), "utf8");
  expect(await written((text) => text.replace("/**", "/** More."))).toBe(page);
  expect(await written((text) => text.replace('"get-info"', '"got-info"'))).not.toBe(page);
});
