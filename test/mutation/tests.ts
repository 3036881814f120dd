import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { say } from "../support/run-main";
import type { Mutant } from "./mutants";

/** The suite of npm test, with the registrar of the copy. */
const ALL_MS = 40 * 60_000;
/** A mutant that stops a process in an endless loop lets no test end. */
const ONE_MUTANT_MS = 5 * 60_000;
const TEST_TIMEOUT_MS = 40_000;

/** Runs every test once, without a mutant, and resolves with the test files that reach one: those first that reach fewest. */
export async function reachingTests(copy: string): Promise<(mutant: Mutant) => readonly string[]> {
  const folder = join(copy, "reached");
  mkdirSync(folder);
  const outputFile = join(copy, "all.json");
  await jest(copy, ["--json", `--outputFile=${outputFile}`], { MUTATION_REACHED: folder }, ALL_MS);
  const { testResults } = JSON.parse(readFileSync(outputFile, "utf8"));
  const failed: readonly string[] = testResults
    .filter(({ status }: { readonly status: string }) => status !== "passed")
    .map(({ name }: { readonly name: string }) => name);
  for (const name of failed) say(`not counted, as it fails without a mutant: ${relative(copy, name)}`);

  const reached = new Map<string, Set<string>>();
  for (const name of readdirSync(folder)) {
    const { test, ids } = JSON.parse(readFileSync(join(folder, name), "utf8"));
    if (!failed.includes(test)) reached.set(test, new Set([...(reached.get(test) ?? []), ...ids]));
  }
  rmSync(folder, { recursive: true });
  const few = [...reached].toSorted(([, one], [, other]) => one.size - other.size);
  return ({ id }) => few.filter(([, ids]) => ids.has(id)).map(([test]) => test);
}

/** Whether one of these test files fails with the mutant. */
export async function runTests(copy: string, tests: readonly string[], mutant: string): Promise<boolean> {
  const reporter = `--reporters=${join(__dirname, "first-failure.cjs")}`;
  const flags = [`--testTimeout=${TEST_TIMEOUT_MS}`, reporter, "--runTestsByPath", ...tests];
  return (await jest(copy, flags, { __STRYKER_ACTIVE_MUTANT__: mutant }, ONE_MUTANT_MS)) !== 0;
}

/** Resolves with the exit code. All processes of it are gone then, those in an endless loop, too. */
async function jest(copy: string, flags: readonly string[], env: NodeJS.ProcessEnv, mostMs: number) {
  const hook = join(__dirname, "in-tests.cjs");
  const program = join(copy, "node_modules/jest/bin/jest.js");
  const words = [program, "--forceExit", `--setupFilesAfterEnv=${hook}`, ...flags];
  const options = `--require=${JSON.stringify(hook)}`;
  const child = spawn(process.execPath, words, {
    ...{ cwd: copy, detached: true, stdio: "ignore" },
    env: { ...process.env, NODE_OPTIONS: options, ...env },
  });
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // All have ended.
    }
  };
  const timer = setTimeout(end, mostMs);
  const [code] = await once(child, "close");
  clearTimeout(timer);
  end();
  return code as number | null;
}
