import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { version } from "../../package.json";
import { registrarArguments } from "../end-to-end/support/node";
import { type Installation, installPackage } from "../package/support/packed-package";
import { LONGEST_LIFE_MS, run, spawnProcess, succeeded } from "../support/child-process";
import { print, runWithFlags, TEXTS, tryRows } from "../support/run-main";
import { createTempFolder } from "../support/temp-folder";
import { fetchNode, NODE_LINES, type NodeRelease } from "./nodes";

const USAGE = `usage: npm run test:matrix -- [--node LINE]...

Packs the project, installs the package as npm does for its users, and tries it on each Node: ${NODE_LINES.join(", ")}.
Exits with 1 if anything failed. Takes half a minute for each. The suites run on each Node in weekly.yml.

  --node LINE   on this Node only, such as 24 or 20.19.0; repeatable
`;

const PROBES = 20;

runWithFlags(USAGE, { node: TEXTS }, async ({ node: lines = NODE_LINES }) => {
  await using installation = await installPackage();
  const outcomes: string[] = [];
  for (const line of lines) {
    const node = await fetchNode(line);
    const checks = [
      ["--version", () => printVersion(node, installation)],
      ["demo", () => playDemo(node, installation)],
      ["exec probes", () => probeOften(node, installation)],
    ] as const;
    const titleOf = ([name]: (typeof checks)[number]) => `Node ${node.version}: ${name}`;
    outcomes.push(...(await tryRows(checks, titleOf, ([, check]) => check())));
  }
  const failed = outcomes.filter((outcome) => outcome === "failed").length;
  print(`${outcomes.length - failed} passed, ${failed} failed`);
});

const within = ({ folder }: NodeRelease, cwd: string, lifeMs: number) => ({
  ...{ cwd, lifeMs, env: { PATH: [folder, process.env.PATH].join(delimiter) } },
});

async function runInEmptyFolder(node: NodeRelease, command: string, ...words: readonly string[]) {
  await using empty = await createTempFolder();
  return succeeded(await run(command, words, within(node, empty.path, 60_000)));
}

/** By its link, as people call it: the first line of the program must find Node in PATH. */
async function printVersion(node: NodeRelease, { command }: Installation): Promise<string> {
  const { stdout } = await runInEmptyFolder(node, command, "--version");
  assert.equal(/^\S+ v(\S+)\n$/.exec(stdout)?.[1], version);
  return "ok";
}

/** Kubelet, drivers and registrars of the package, each a process on that Node. The demo judges itself. */
async function playDemo(node: NodeRelease, { cli }: Installation): Promise<string> {
  await runInEmptyFolder(node, node.path, cli, "demo");
  return "ok";
}

/** Exec probes of one registrar. Once, Node 26 lost the answer to each second of them. */
async function probeOften({ path }: NodeRelease, { cli }: Installation): Promise<string> {
  await using folder = await createTempFolder();
  const csiAddress = folder.at("csi.sock");
  const paths = registrarArguments({ csiAddress, pluginDir: folder.path });
  const limits = { cwd: folder.path, lifeMs: LONGEST_LIFE_MS };
  const driver = [cli, "driver", `--csi-address=${csiAddress}`, "--name=disk.csi.example.com"];
  await using _driver = spawnProcess(path, driver, limits);
  await using registrar = spawnProcess(path, [cli, ...paths], limits);
  await registrar.stderr.waitFor((line) => line.includes('to="listening"'));
  for (let nth = 0; nth < PROBES; nth += 1)
    succeeded(await run(path, [cli, ...paths, "--mode=health-probe", "--timeout=20s"], { cwd: folder.path }));
  return "ok";
}
