import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { endProcessesOf } from "../support/global-teardown";
import { say } from "../support/run-main";
import { createTempFolder } from "../support/temp-folder";
import type { Mutant } from "./mutants";

export interface Test {
  readonly file: string;
  readonly name: string;
  /** How long it took among all tests. */
  readonly tookMs: number;
}

/** What reporter.cjs sends, and worker.cjs at the end, which is broken where it is not a test that fails. */
interface Step {
  readonly kind: "started" | "ended" | "failed" | "done" | "broken";
  readonly file: string;
  /** "" for what a file does beside its tests. */
  readonly name: string;
}

const ENVIRONMENT = `--testEnvironment=${join(__dirname, "environment.cjs")}`;
const IN_PROCESSES = join(__dirname, "in-processes.cjs");
/** The suite of npm test, with the registrar of the copy. */
const ALL_MS = 40 * 60_000;
/** The least that a test gets, and how many times as long as without a mutant. */
const TEST_MS = 40_000;
const TIMES_AS_LONG = 5;
/** What the load of a file takes, for the order of files. */
const LOAD_MS = 500;
/** Tests that take so long, the first of those that reach it, notice most mutants. */
const NEAR_MS = 20_000;
/** The most between two tests, where a file is loaded. */
const BETWEEN_MS = 60_000;

/** Runs every test once, without a mutant, and resolves with those that reach one, in the order in which they are worth running. */
export async function reachingTests(copy: string): Promise<(mutant: Mutant) => readonly Test[]> {
  await using folder = await createTempFolder();
  const reached = folder.at("reached");
  writeFileSync(reached, "", { mode: 0o666 });
  const run = async (flags: readonly string[]) => {
    const json = folder.at("results.json");
    const words = ["--forceExit", "--json", `--outputFile=${json}`, ENVIRONMENT, ...flags];
    const child = start(copy, [join(copy, "node_modules/jest/bin/jest.js"), ...words], {
      MUTATION_REACHED: reached,
    });
    const timer = setTimeout(child.end, ALL_MS);
    await child.closed;
    clearTimeout(timer);
    return testsIn(readFileSync(json, "utf8"));
  };
  const first = await run([]);
  const files = [...new Set(first.failed.map(({ file }) => file))];
  // On a busy machine some take too long. Alone they do not.
  const second = files.length > 0 ? await run(["--runInBand", "--runTestsByPath", ...files]) : first;
  const passed = new Map([...first.passed, ...second.passed].map((one) => [keyOf(one), one]));
  for (const { file, name } of second.failed)
    say(`not counted, as it fails without a mutant: ${relative(copy, file)}: ${name}`);

  const ids = new Map<string, Set<string>>();
  const idsOfFiles = new Map<string, Set<string>>();
  const add = (to: Map<string, Set<string>>, key: string, id: string) =>
    to.set(key, (to.get(key) ?? new Set()).add(id));
  for (const line of readFileSync(reached, "utf8").split("\n").slice(0, -1)) {
    const [file, name, id] = JSON.parse(line);
    add(ids, keyOf({ file, name }), id);
    add(idsOfFiles, file, id);
  }
  return ({ id }) => {
    const reaches = (one: { readonly file: string; readonly name: string }) => ids.get(keyOf(one))?.has(id);
    return inOrder(
      [...passed.values()].filter((one) => reaches(one) || reaches({ file: one.file, name: "" })),
      (file) => idsOfFiles.get(file)?.size ?? 0,
    );
  };
}

const keyOf = ({ file, name }: { readonly file: string; readonly name: string }) => `${file}\0${name}`;

/** What jest's --json wrote. */
function testsIn(json: string) {
  const { testResults } = JSON.parse(json);
  const passed: Test[] = [];
  const failed: Test[] = [];
  for (const { name: file, assertionResults, message } of testResults) {
    for (const { fullName: name, status, duration } of assertionResults)
      if (status !== "pending")
        (status === "passed" ? passed : failed).push({ file, name, tookMs: duration });
    if (assertionResults.length === 0) failed.push({ file, name: message, tookMs: 0 });
  }
  return { passed, failed };
}

/**
 * Those first that are likely to notice a mutant for little time: of a file that takes little, and reaches few mutants, because
 * it is about the code of these.
 */
function inOrder(tests: readonly Test[], countReached: (file: string) => number): readonly Test[] {
  const costs = new Map<string, number>();
  for (const { file, tookMs } of tests)
    costs.set(file, (costs.get(file) ?? 0) + (LOAD_MS + tookMs) * countReached(file));
  return tests.toSorted((one, other) => (costs.get(one.file) ?? 0) - (costs.get(other.file) ?? 0));
}

/** The files at the front, for each mutant alone, and the rest, for several at a time. */
export function nearAndFar(tests: readonly Test[]): readonly [near: readonly Test[], far: readonly Test[]] {
  let leftMs = NEAR_MS;
  const files = [...new Set(tests.map(({ file }) => file))];
  const near = files.filter((file) => {
    const isNear = leftMs > 0;
    leftMs -= tests.filter((one) => one.file === file).reduce((sum, { tookMs }) => sum + tookMs, LOAD_MS);
    return isNear;
  });
  const isNear = ({ file }: Test) => near.includes(file);
  return [tests.filter(isNear), tests.filter((one) => !isNear(one))];
}

/** What jest's global setup prepares, once for all mutants. Dispose of it at the end. */
export function prepareRuns(copy: string): Disposable {
  const load = createRequire(join(copy, "package.json"));
  load("./test/support/global-setup.ts").default();
  return { [Symbol.dispose]: () => load("./test/support/global-teardown.ts").default() };
}

/**
 * The test that notices a mutant: it fails with the mutant, its file passes without one, and it fails again with the mutant. On a
 * busy machine a test may fail for another reason. All in one process of jest, which a test that never ends makes it start anew.
 */
export function createJudge(copy: string) {
  let worker = startWorker(copy);
  const firstFailure = async (tests: readonly Test[], mutant?: string) => {
    const { failed, isLost } = await worker.run(tests, mutant);
    if (isLost) {
      worker.end();
      worker = startWorker(copy);
    }
    return failed;
  };
  const noticedBy = async (tests: readonly Test[], mutant: string): Promise<string | undefined> => {
    for (let left = tests; left.length > 0; ) {
      const failed = await firstFailure(left, mutant);
      if (failed === undefined) return undefined;
      const { file, name } = failed;
      const ofFile = left.filter((one) => one.file === file);
      const at = ofFile.findIndex((one) => one.name === name);
      const same = at < 0 ? ofFile : ofFile.slice(0, at + 1);
      const isReliable = (await firstFailure(same)) === undefined;
      if (isReliable && (await firstFailure(same, mutant))) return `${relative(copy, file)}: ${name}`;
      left = left.filter((one) => one.file !== file || (name !== "" && one.name !== name));
    }
    return undefined;
  };
  /**
   * The same of several mutants, all on at once: a test that passes so notices none of them. If one fails, each runs it alone. Two of
   * which one hides the other's fault count as missed.
   */
  const eachNoticed = async (
    mutants: ReadonlyMap<Mutant, readonly Test[]>,
    tell: (mutant: Mutant, test: string) => void,
  ) => {
    const left = new Map(mutants);
    const passed = new Set<Test>();
    for (;;) {
      const tests = [...new Set([...left.values()].flat())].filter((one) => !passed.has(one));
      const failed =
        tests.length > 0 && (await firstFailure(tests, [...left.keys()].map(({ id }) => id).join()));
      if (!failed) return;
      const files = [...new Set(tests.map(({ file }) => file))];
      const ofFile = tests.filter(({ file }) => file === failed.file);
      const at = ofFile.findIndex(({ name }) => name === failed.name);
      const played = at < 0 ? ofFile : ofFile.slice(0, at + 1);
      for (const [mutant, own] of left) {
        const test = await noticedBy(
          own.filter((one) => played.includes(one)),
          mutant.id,
        );
        if (test === undefined) continue;
        left.delete(mutant);
        tell(mutant, test);
      }
      const before = files.slice(0, files.indexOf(failed.file));
      for (const one of tests) if (before.includes(one.file) || played.includes(one)) passed.add(one);
    }
  };
  return { noticedBy, eachNoticed, [Symbol.dispose]: () => worker.end() };
}

/** A process of jest that runs tests one after another until one fails or never ends, as often as it is asked to. */
function startWorker(copy: string) {
  const child = start(copy, [join(copy, "test/mutation/worker.cjs")], {});
  let onStep = (_: Step) => {};
  let onClose = () => {};
  child.process.on("message", (step: Step) => onStep(step));
  child.closed.then(() => onClose());
  const run = async (tests: readonly Test[], mutant?: string) => {
    await using folder = await createTempFolder();
    const plan: Record<string, Record<string, number>> = {};
    for (const { file, name, tookMs } of tests)
      plan[file] = { ...plan[file], [name]: Math.max(TEST_MS, TIMES_AS_LONG * tookMs) };
    try {
      return await new Promise<{ failed?: Step | undefined; isLost?: boolean }>((resolve, reject) => {
        let failed: Step | undefined;
        let last: Step = { kind: "started", file: tests[0]?.file ?? "", name: "" };
        const lost = () => {
          clearTimeout(timer);
          resolve({ failed: { ...last, kind: "failed" }, isLost: true });
        };
        let timer = setTimeout(lost, BETWEEN_MS);
        onStep = (step) => {
          clearTimeout(timer);
          if (step.kind === "done") return resolve({ failed });
          if (step.kind === "broken") return reject(new Error(step.name));
          if (step.kind === "failed") failed ??= step;
          last = step;
          const ownMs = step.kind === "started" ? (plan[step.file]?.[step.name] ?? 0) : 0;
          timer = setTimeout(lost, BETWEEN_MS + ownMs);
        };
        onClose = lost;
        child.process.send({ plan, mutant, folder: folder.path }, () => {}); // Not sent: it is closed.
      });
    } finally {
      endProcessesOf(folder.path);
    }
  };
  return { run, end: child.end };
}

/** A Node process of the copy. All processes of it have ended when `closed` resolves, those in an endless loop, too. */
function start(copy: string, words: readonly string[], env: NodeJS.ProcessEnv) {
  const options = `${process.env.NODE_OPTIONS ?? ""} --require=${JSON.stringify(IN_PROCESSES)}`;
  const child = spawn(process.execPath, words, {
    ...{ cwd: copy, detached: true, stdio: ["ignore", "ignore", "ignore", "ipc"] },
    env: { ...process.env, NODE_OPTIONS: options, ...env },
  });
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {
      // All have ended.
    }
  };
  return { process: child, end, closed: once(child, "close").then(end) };
}
