import { readFile } from "node:fs/promises";
import { delimiter, join, relative } from "node:path";
import { ROOT } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { createTempFolder } from "../support/temp-folder";
import type { NodeRelease } from "./nodes";

/** What we read of jest's report. */
export interface JestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Where the file failed as a whole, the reason. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const DONE_WITHIN_MS = 20 * 60_000;

const CONFIGS = ["jest.config.js", "test/process/jest.config.js"];

/** `npm test` and `test:process` in this checkout as it is built, on another Node; which is also `node` and npm's for them. */
export async function runSuites(node: NodeRelease): Promise<string> {
  const results: string[] = [];
  for (const config of CONFIGS) results.push(await runSuite(node, config));
  return results.join("; ");
}

async function runSuite(node: NodeRelease, config: string): Promise<string> {
  await using folder = await createTempFolder();
  const file = folder.at("report.json");
  // What a failed test leaves open does not keep it from ending.
  const options = [`--config=${config}`, "--json", `--outputFile=${file}`, "--forceExit"];
  const jest = [join(ROOT, "node_modules", "jest", "bin", "jest.js"), ...options];
  const env = { PATH: [node.folder, process.env.PATH].join(delimiter) };
  const startedAt = performance.now();
  const { code, stderr } = await run(node.path, jest, { cwd: ROOT, env, withinMs: DONE_WITHIN_MS });
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined)
    throw new Error(`jest ended with ${code} and without a report: ${stderr.slice(-2_000)}`);
  const report = JSON.parse(text) as JestReport;
  const problems = problemsOf(report);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  if (code !== 0 || report.numPassedTests === 0)
    throw new Error(`jest ended with ${code}: ${stderr.slice(-2_000)}`);
  return `${report.numPassedTests} passed, ${Math.round((performance.now() - startedAt) / 1_000)} s`;
}

/** Each failed test, and each file that could not be run, with the first line of its reason. */
export function problemsOf({ testResults }: JestReport): readonly string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    const file = relative(ROOT, name);
    if (failed.length === 0) return status === "failed" ? [`${file}: ${firstLine(message)}`] : [];
    return failed.map(
      ({ fullName, failureMessages }) => `${file}: ${fullName}: ${firstLine(failureMessages[0])}`,
    );
  });
}

function firstLine(text = ""): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
