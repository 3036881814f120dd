import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { run, succeeded } from "../support/child-process";
import { createTempFolder, type TempFolder } from "../support/temp-folder";

const COPIED = [
  ...["src", "test", "proto", "docs", "examples", "bench", "scripts", "dist"],
  ...["jest.config.js", "package.json", "tsconfig.json"],
];
const SKIPPED = /\/(?:node_modules|built|bin)$/;

/** What the tests of a copy start: the project's own build. They would refuse one that is older than a changed file. */
export const BUILT_BEFORE = { REGISTRAR_COMMAND: `${process.execPath} ${join(ROOT, "dist", "cli.js")}` };

export async function copyProject(): Promise<TempFolder> {
  const folder = await createTempFolder();
  for (const name of COPIED)
    cpSync(join(ROOT, name), folder.at(name), { recursive: true, filter: (path) => !SKIPPED.test(path) });
  symlinkSync(join(ROOT, "node_modules"), folder.at("node_modules"));
  return folder;
}

const TEST_TIMEOUT_MS = 40_000;
/** A change that stops the process in a call of the kernel lets no test end. */
const DONE_WITHIN_MS = 5 * 60_000;

/** What only the built CLI runs: it is bundled anew for each of their mutants, whose tests start that. */
const OF_PROCESS = /^src\/(?:cli\/|runtime\/signals)/;
const BUNDLE = 'import("./scripts/cli-parts.mjs").then((m) => m.bundleCli({ name: "none", setup() {} }))';

export function runTests(
  folder: string,
  tests: readonly string[],
  reporter = "default",
  env: Readonly<Record<string, string>> = BUILT_BEFORE,
) {
  const program = join(ROOT, "node_modules", "jest", "bin", "jest.js");
  // Last: all that follows would be reporters.
  const flags = ["--forceExit", "--maxWorkers=2", `--testTimeout=${TEST_TIMEOUT_MS}`];
  const args = [program, ...tests, ...flags, `--reporters=${reporter}`];
  return run(process.execPath, args, { cwd: folder, env, lifeMs: DONE_WITHIN_MS });
}

/** Whether tests of a copy fail with a change of this file. */
export async function isNoticed(
  folder: string,
  file: string,
  change: (text: string) => string,
  tests: readonly string[],
): Promise<boolean> {
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, change(text));
  const isBuilt = OF_PROCESS.test(file);
  if (isBuilt) succeeded(await run(process.execPath, ["--eval", BUNDLE], { cwd: folder }));
  const env = isBuilt
    ? { REGISTRAR_COMMAND: `${process.execPath} ${join(folder, "dist", "cli.js")}` }
    : BUILT_BEFORE;
  const { code } = await runTests(folder, tests, "<rootDir>/test/mutation/first-failure.js", env);
  writeFileSync(path, text);
  return code !== 0;
}
