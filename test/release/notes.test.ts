import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";

const CHANGELOG = [
  "# Changelog",
  ...["## [Unreleased]", "### Added", "- Not yet."],
  ...["## [1.2.0] - 2026-11-22", "What it is about.", "### Fixed", "- A thing."],
  ...["## [1.1.0] - 2026-10-01", "### Added", "- Another."],
].join("\n\n");

async function notesOf(tag: string, packageJson: object, env: NodeJS.ProcessEnv = {}) {
  await using folder = await createTempFolder();
  writeFileSync(folder.at("CHANGELOG.md"), `${CHANGELOG}\n`);
  writeFileSync(folder.at("package.json"), JSON.stringify(packageJson));
  const script = join(ROOT, "scripts/release/notes.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, tag, folder.path], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
  });
  expect(status).toBe(stderr === "" ? 0 : 1);
  return [stdout, stderr];
}

test.each([
  ["v1.2.0", "1.2.0", "What it is about.\n\n### Fixed\n\n- A thing.\n", ""],
  ["v1.1.0", "1.1.0", "### Added\n\n- Another.\n", ""],
  [
    "v1.2.1",
    "1.2.0",
    "",
    "scripts/release/notes.mjs: the tag is v1.2.1, and package.json has version 1.2.0\n",
  ],
  [
    "v1.3.0",
    "1.3.0",
    "",
    'scripts/release/notes.mjs: CHANGELOG.md has nothing under a heading "[1.3.0] - the day"\n',
  ],
])("the tag %s with package.json's %s", async (tag, version, notes, complaint) => {
  expect(await notesOf(tag, { version })).toEqual([notes, complaint]);
});

test.each([
  ["team/registrar", ""],
  [
    "other/fork",
    "repository.url in package.json is git+https://github.com/team/registrar.git, and this repository needs git+https://github.com/other/fork.git",
  ],
])("built in the repository %s", async (repository, complaint) => {
  const home = "https://github.com/team/registrar";
  const urls = { homepage: home, bugs: { url: `${home}/issues` }, repository: { url: `git+${home}.git` } };
  const [, said] = await notesOf("v1.2.0", { version: "1.2.0", ...urls }, { GITHUB_REPOSITORY: repository });
  expect(said).toBe(complaint && `scripts/release/notes.mjs: ${complaint}\n`);
});
