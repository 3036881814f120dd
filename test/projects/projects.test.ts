import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { packPackage } from "../package/support/packed-package";
import { run, succeeded } from "../support/child-process";
import { allTests } from "../support/each-test";
import { fetchNode } from "../support/nodes";
import { createTempFolder } from "../support/temp-folder";

// test/package has ES modules, CommonJS and their types.

/** What a project has of its own; the package and these tools are installed by npm, from the registry. */
const TOOLS = ["typescript@7", "vitest@4", "jest@29", "esbuild@0.28", "@types/node@24"];
const REGISTERED = '[{"name":"x.csi","nodeID":"n1","topologyKeys":[]}]\n';

const workspace = allTests(createTempFolder);
beforeAll(async () => {
  await using packed = await packPackage();
  await writeFile(workspace.at("package.json"), "{}\n");
  const quietly = ["--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"];
  const install = ["install", ...quietly, packed.tarball, ...TOOLS];
  succeeded(await run("npm", install, { cwd: workspace.path, lifeMs: 500_000 }));
});

async function open(name: string) {
  const cwd = workspace.at(name);
  await cp(join(__dirname, name), cwd, { recursive: true });
  const bin = (command: string) => workspace.at("node_modules", ".bin", command);
  const tool = (command: string, ...args: readonly string[]) =>
    run(bin(command), args, { cwd, lifeMs: 120_000 });
  const toolWith = async (line: string, command: string, ...args: readonly string[]) =>
    run((await fetchNode(line)).path, [bin(command), ...args], { cwd, lifeMs: 120_000 });
  return { cwd, tool, toolWith };
}

test("an ES module in TypeScript with a bundler's resolution, bundled by esbuild into one file", async () => {
  const project = await open("bundled");
  succeeded(await project.tool("tsc"));
  const to = ["--platform=node", "--target=node20", "--format=cjs", "--outfile=alone/main.js"];
  succeeded(await project.tool("esbuild", "main.ts", "--bundle", ...to, "--log-level=warning"));
  // Alone: nothing is installed where it runs.
  await using elsewhere = await createTempFolder();
  await cp(join(project.cwd, "alone"), elsewhere.path, { recursive: true });
  expect(await readdir(elsewhere.path)).toEqual(["main.js"]);
  const finished = await run(process.execPath, ["main.js"], { cwd: elsewhere.path });
  expect(finished).toEqual({ code: 0, stdout: REGISTERED, stderr: "" });
});

/** The last two run tests in a VM context, to which Node 20 and 22 give no `Symbol.dispose`. */
test.each([
  ["vitest", "run", "--reporter=json"],
  ["vitest", "run", "--reporter=json", "--pool=vmThreads"],
  ["jest", "--json"],
])("%s %s %s %s", async (runner, ...args) => {
  const project = await open(runner === "jest" ? "jest-29" : runner);
  for (const line of ["20.19", "22"]) {
    const { code, stdout } = await project.toolWith(line, runner, ...args);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, numPassedTests: 1, numFailedTests: 0 });
  }
});

test("the example driver passes its own checks and tests", async () => {
  const { folder } = await fetchNode("24");
  const cwd = workspace.at("driver");
  await cp(join(ROOT, "examples", "driver"), cwd, { recursive: true });
  succeeded(await run("npm", ["run", "check"], { cwd, lifeMs: 120_000 }));
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const options = { cwd, env, lifeMs: 120_000 };
  const { code, stdout } = await run("node", ["--test", "test/driver.test.ts"], options);
  const count = (what: string) => Number(new RegExp(`^\\S+ ${what} (\\d+)$`, "m").exec(stdout)?.[1]);
  // Who may not mount here skips one.
  expect([code, count("fail"), count("pass") + count("skipped")]).toEqual([0, 0, 5]);
  expect(count("pass")).toBeGreaterThanOrEqual(4);
});
