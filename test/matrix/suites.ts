import { delimiter, join } from "node:path";
import { ROOT } from "../package/support/packed-package";
import { run } from "../package/support/run";
import type { NodeRelease } from "./nodes";

const JEST = join(ROOT, "node_modules", "jest", "bin", "jest.js");
const CONFIGS = ["jest.config.js", "test/process/jest.config.js"];
const DONE_WITHIN_MS = 20 * 60_000;

/** `npm test` and `test:process` in this checkout as it is built, on another Node; which is also `node` and npm's for them. */
export async function runSuites(node: NodeRelease): Promise<string> {
  const env = { PATH: [node.folder, process.env.PATH].join(delimiter) };
  const results: string[] = [];
  for (const config of CONFIGS) {
    // What a failed test leaves open does not keep it from ending.
    const jest = [JEST, `--config=${config}`, "--forceExit"];
    const { code, stderr } = await run(node.path, jest, { cwd: ROOT, env, withinMs: DONE_WITHIN_MS });
    const failures = new Set(stderr.match(/^ {2}● .*$/gm));
    if (code !== 0)
      throw new Error([...failures].join("\n") || `jest ended with ${code}: ${stderr.slice(-2_000)}`);
    results.push(/^Tests: +(.*)$/m.exec(stderr)?.[1] ?? "");
  }
  return results.join("; ");
}
