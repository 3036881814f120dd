import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { run, succeeded } from "./child-process";
import { say } from "./run-main";

/** What we are tested with: the oldest Node that package.json allows, and each line that its makers keep. */
export const NODE_LINES: readonly string[] = ["20.19", "22", "24", "26"];

/** Gone with the next `npm ci`, after which the newest release of a line is fetched again. */
const CACHE = join(ROOT, "node_modules", ".cache", "nodes");

export type NodeRelease = Awaited<ReturnType<typeof fetchNode>>;

/** The newest release of a line: from npm, where it is a package, unless it was fetched before. */
export async function fetchNode(line: string) {
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = join(CACHE, line);
  const folder = join(prefix, "node_modules", name, "bin");
  const path = join(folder, "node");
  let version = await versionOf(path);
  if (version === undefined) {
    say(`fetching ${name}@${line} with npm`);
    const options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
    const install = ["install", "--prefix", prefix, ...options, `${name}@${line}`];
    succeeded(await run("npm", install, { cwd: ROOT, lifeMs: 300_000 }));
    version = await versionOf(path);
  }
  if (version === undefined) throw new Error(`${path} does not run here`);
  return { version, folder, path };
}

/** Undefined where no Node runs. A command that is not there must not be spawned: Node keeps its time limit running. */
async function versionOf(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const { stdout } = await run(path, ["--version"], { cwd: ROOT }).catch(() => ({ stdout: "" }));
  return /^v(\d\S+)$/m.exec(stdout)?.[1];
}
