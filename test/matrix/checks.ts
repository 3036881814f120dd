import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { packageJson, succeeded } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { createTempFolder } from "../support/temp-folder";
import type { Installation } from "./installation";
import type { NodeRelease } from "./nodes";
import { runSuites } from "./suites";

/** What is checked: the installed package, on one Node. */
export interface Subject {
  readonly node: NodeRelease;
  readonly installation: Installation;
}

/** A row of the table. */
export interface Check {
  readonly name: string;
  /** Takes minutes. */
  readonly isLong?: boolean;
  /** Resolves with what there is to say in a few words; rejects with what is wrong. */
  run(subject: Subject): Promise<string>;
}

export const CHECKS: readonly Check[] = [
  { name: "--version", run: printVersion },
  { name: "demo", run: playDemo },
  { name: "npm test, its suites", isLong: true, run: ({ node }) => runSuites(node) },
];

/** By its link, as people call it: the first line of the program must find Node in PATH. */
async function printVersion({ node, installation }: Subject): Promise<string> {
  await using empty = await createTempFolder();
  const env = { PATH: [node.folder, process.env.PATH].join(delimiter) };
  const { stdout } = succeeded(await run(installation.command, ["--version"], { cwd: empty.path, env }));
  const [, version] = /^\S+ v(\S+)\n$/.exec(stdout) ?? [];
  assert.equal(version, packageJson.version);
  return "ok";
}

/** Kubelet, drivers and registrars of the package, each a process on that Node. It judges itself. */
async function playDemo({ node, installation }: Subject): Promise<string> {
  await using empty = await createTempFolder();
  succeeded(await run(node.path, [installation.cli, "demo"], { cwd: empty.path, withinMs: 60_000 }));
  return "ok";
}
