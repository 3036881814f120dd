import assert from "node:assert/strict";
import { delimiter } from "node:path";
import type { KubeletEvent } from "../../src/testing";
import { createNodeFolder } from "../kubelet/support/node-folder";
import { type Registrar, startRegistrar } from "../kubelet/support/registrar";
import { packageJson, succeeded } from "../package/support/packed-package";
import { run } from "../package/support/run";
import { startChildProcess } from "../support/child-process";
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
  { name: "registration", run: register },
  { name: "exec probes", run: probe },
  { name: "demo", run: playDemo },
  { name: "npm test, its suites", isLong: true, run: ({ node }) => runSuites(node) },
];

const NAME = "disk.csi.example.com";

/** By its link, as people call it: the first line of the program must find Node in PATH. */
async function printVersion({ node, installation }: Subject): Promise<string> {
  await using empty = await createTempFolder();
  const env = { PATH: [node.folder, process.env.PATH].join(delimiter) };
  const { stdout } = succeeded(await run(installation.command, ["--version"], { cwd: empty.path, env }));
  const [, version] = /^\S+ v(\S+)\n$/.exec(stdout) ?? [];
  assert.equal(version, packageJson.version);
  return "ok";
}

async function register(subject: Subject): Promise<string> {
  await withRegistrar(subject, async ({ registrar, happened, visibleSockets }) => {
    assert.deepEqual(await visibleSockets(), [`${NAME}-reg.sock`]);
    registrar.signal("SIGTERM");
    assert.deepEqual(await registrar.exited, { code: 0, signal: null });
    await happened("deregistered");
    assert.deepEqual(await visibleSockets(), []);
  });
  return "ok";
}

async function probe(subject: Subject): Promise<string> {
  await withRegistrar(subject, async ({ registrar, args }) => {
    const { node, installation } = subject;
    const probeExits = async (expected: Readonly<Record<string, number>>) => {
      for (const [mode, code] of Object.entries(expected)) {
        await using process = await startRegistrar(
          [...args, `--mode=${mode}`],
          [node.path, installation.cli],
        );
        assert.equal((await process.exited).code, code, `--mode=${mode}`);
      }
    };
    await probeExits({ "health-probe": 0, "ready-probe": 0, "kubelet-registration-probe": 0 });
    registrar.signal("SIGTERM");
    await registrar.exited;
    await probeExits({ "health-probe": 1, "ready-probe": 1, "kubelet-registration-probe": 0 });
  });
  return "ok";
}

/** It judges itself. */
async function playDemo({ node, installation }: Subject): Promise<string> {
  await using empty = await createTempFolder();
  succeeded(await run(node.path, [installation.cli, "demo"], { cwd: empty.path, withinMs: 60_000 }));
  return "ok";
}

interface Play {
  readonly registrar: Registrar;
  /** The registrar's arguments. */
  readonly args: readonly string[];
  /** Resolves when kubelet has told of such an event. */
  happened(kind: KubeletEvent["kind"]): Promise<unknown>;
  visibleSockets(): Promise<readonly string[]>;
}

/** Has a driver registered by the package's registrar with the package's kubelet, each a process on that Node. */
async function withRegistrar(
  { node, installation: { cli } }: Subject,
  act: (play: Play) => Promise<void>,
): Promise<void> {
  await using place = await createNodeFolder();
  const { args, kubeletRegistrationPath } = await place.addDriver(NAME);
  const start = (...words: readonly string[]) =>
    startChildProcess<KubeletEvent>(node.path, [cli, ...words, "--output=json"], JSON.parse);
  await using kubelet = await start("kubelet", `--plugin-registration-path=${place.pluginRegistrationPath}`);
  await using _driver = await start("driver", `--csi-address=${kubeletRegistrationPath}`, `--name=${NAME}`);
  await using registrar = await startRegistrar(args, [node.path, cli]);
  const happened = (kind: KubeletEvent["kind"]) => kubelet.stdout.waitFor((event) => event.kind === kind);
  await happened("registered");
  await registrar.reached("registered");
  await act({ registrar, args, happened, visibleSockets: place.visibleSockets });
}
