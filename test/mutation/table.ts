import { readFileSync, writeFileSync } from "node:fs";
import { print } from "../support/run-main";
import { type Mutant, mutated, type Result } from "./mutant";
import { copyProject, isNoticed, runTests } from "./project-copy";

/** Tests that notice by waiting in vain do so for this long. Without a mutant none needs more than a few seconds. */
const IMPATIENT = {
  file: "test/support/history.ts",
  from: "PATIENCE_MS = 60_000",
  to: "PATIENCE_MS = 20_000",
};

export async function runTable(mutants: readonly Mutant[]): Promise<Result> {
  await using folder = await copyProject();
  const patience = folder.at(IMPATIENT.file);
  writeFileSync(patience, mutated(readFileSync(patience, "utf8"), IMPATIENT));
  // Tests that fail without a change would notice every one.
  const untouched = await runTests(folder.path, [...new Set(mutants.flatMap(({ tests }) => tests))]);
  if (untouched.code !== 0)
    throw new Error(`the tests fail without a mutant:\n${untouched.stderr.slice(-4_000)}`);

  const result: Result = { mutants: mutants.length, noticed: 0 };
  for (const mutant of mutants) {
    const { file, what, tests } = mutant;
    const noticed = await isNoticed(folder.path, file, (text) => mutated(text, mutant), tests);
    if (noticed) result.noticed += 1;
    print(`${noticed ? "noticed " : "SURVIVED"}  ${file}: ${what}`);
  }
  return result;
}
