import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, succeeded } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { type Mutant, mutated, type Result } from "./mutant";
import { BUILT_BEFORE, copyProject } from "./project-copy";

/** Tests that notice by waiting in vain do so for this long. Without a mutant none needs more than a few seconds. */
const IMPATIENT = {
  file: "test/support/history.ts",
  from: "PATIENCE_MS = 60_000",
  to: "PATIENCE_MS = 20_000",
};
const TEST_TIMEOUT_MS = 40_000;
const DONE_WITHIN_MS = 15 * 60_000;
/** What only the built CLI runs: it is bundled anew for each of their mutants, whose tests start that. */
const OF_PROCESS = /^src\/(?:cli\/|runtime\/signals)/;
const BUNDLE = 'import("./scripts/cli-parts.mjs").then((m) => m.bundleCli({ name: "none", setup() {} }))';

export async function runTable(mutants: readonly Mutant[], say: (line: string) => void): Promise<Result> {
  await using folder = await copyProject();
  const patience = folder.at(IMPATIENT.file);
  writeFileSync(patience, mutated(readFileSync(patience, "utf8"), IMPATIENT));
  const jest = (reporter: string, tests: readonly string[], env = BUILT_BEFORE) => {
    const program = join(ROOT, "node_modules", "jest", "bin", "jest.js");
    // Last: all that follows would be reporters.
    const flags = ["--forceExit", "--maxWorkers=2", `--testTimeout=${TEST_TIMEOUT_MS}`];
    const args = [program, ...tests, ...flags, `--reporters=${reporter}`];
    return run(process.execPath, args, { cwd: folder.path, env, withinMs: DONE_WITHIN_MS });
  };
  // Tests that fail without a change would notice every one.
  const untouched = await jest("default", [...new Set(mutants.flatMap(({ tests }) => tests))]);
  if (untouched.code !== 0)
    throw new Error(`the tests fail without a mutant:\n${untouched.stderr.slice(-4_000)}`);

  const result: Result = { mutants: mutants.length, noticed: 0 };
  for (const mutant of mutants) {
    const { file, what, tests } = mutant;
    const path = folder.at(file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, mutated(text, mutant));
    const isBuilt = OF_PROCESS.test(file);
    if (isBuilt) succeeded(await run(process.execPath, ["--eval", BUNDLE], { cwd: folder.path }));
    const env = isBuilt
      ? { REGISTRAR_COMMAND: `${process.execPath} ${folder.at("dist", "cli.js")}` }
      : BUILT_BEFORE;
    const { code } = await jest("<rootDir>/test/mutation/first-failure.js", tests, env);
    writeFileSync(path, text);
    if (code !== 0) result.noticed += 1;
    say(`${code === 0 ? "SURVIVED" : "noticed "}  ${file}: ${what}`);
  }
  return result;
}
