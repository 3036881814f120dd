import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CsiDriverOptions,
  type KubeletOptions,
  type SimulatedCsiDriver,
  type SimulatedKubelet,
  startCsiDriver,
  startKubelet,
} from "../../../src/testing";
import { type CliProcess, type Launch, patience, startCli } from "./process";

export const DRIVER = "disk.csi.example.com";

/** A folder that stands for a node, and what runs on it. */
export interface TestNode {
  readonly csiAddress: string;
  readonly pluginDir: string;
  /** Where the registrar's socket is to be. */
  readonly socketPath: string;
  /** Starts a driver called DRIVER. */
  driver(options?: Partial<CsiDriverOptions>): Promise<SimulatedCsiDriver>;
  /** Starts a kubelet that looks more often than a real one. */
  kubelet(options?: Partial<KubeletOptions>): Promise<SimulatedKubelet>;
  /** Starts the registrar with the three flags of every chart and these. */
  registrar(...flags: readonly string[]): CliProcess;
  /** Starts the CLI with these arguments only. */
  cli(args: readonly string[], env?: NodeJS.ProcessEnv, launch?: Launch): CliProcess;
  /** What is in the plugin registration directory. */
  files(): readonly string[];
  /** An empty file, as kubelet makes it before a container starts. */
  readonly terminationLogPath: string;
}

/**
 * A test on a node of its own, on which nothing runs at first. Whatever it starts is ended afterwards and the folder
 * removed; a registrar that does not end well fails the test.
 */
export function nodeTest(name: string, body: (node: TestNode) => Promise<void>, timeoutMs?: number): void {
  test(name, onNode(body), timeoutMs);
}

/** The body of such a test in a table of cases. */
export function onNode<Row extends readonly unknown[]>(
  body: (node: TestNode, ...row: Row) => Promise<void>,
): (...row: Row) => Promise<void> {
  return async (...row) => {
    const { node, close } = makeNode();
    let endings: readonly PromiseSettledResult<void>[] = [];
    try {
      await body(node, ...row);
    } finally {
      endings = await close();
    }
    for (const ending of endings) if (ending.status === "rejected") throw ending.reason;
  };
}

function makeNode() {
  const folder = mkdtempSync(join(tmpdir(), "e2e-"));
  const pluginDir = join(folder, "reg");
  const csiAddress = join(folder, "csi.sock");
  const terminationLogPath = join(folder, "termination-log");
  mkdirSync(pluginDir);
  writeFileSync(terminationLogPath, "");
  const started: AsyncDisposable[] = [];
  const keep = <Part extends AsyncDisposable>(part: Part): Part => {
    started.push(part);
    return part;
  };
  const node: TestNode = {
    csiAddress,
    pluginDir,
    terminationLogPath,
    socketPath: join(pluginDir, `${DRIVER}-reg.sock`),
    driver: async (options) => keep(await startCsiDriver({ csiAddress, name: DRIVER, ...options })),
    kubelet: async (options) => keep(await startKubelet({ pluginDir, reconcilePeriodMs: 50, ...options })),
    cli: (args, env, launch) => keep(startCli(args, env, launch)),
    registrar: (...flags) =>
      node.cli([
        `--csi-address=${csiAddress}`,
        `--kubelet-registration-path=${csiAddress}`,
        `--plugin-registration-path=${pluginDir}`,
        ...flags,
      ]),
    files: () => (existsSync(pluginDir) ? readdirSync(pluginDir) : []),
  };
  const close = async () => {
    const endings = await Promise.allSettled(started.reverse().map((part) => part[Symbol.asyncDispose]()));
    rmSync(folder, { recursive: true, force: true });
    return endings;
  };
  return { node, close };
}

/** Resolves when kubelet registers the driver, now or as soon as it did so for the nth time. */
export function registered(
  kubelet: SimulatedKubelet,
  { nth = 1, driverName = DRIVER }: { readonly nth?: number; readonly driverName?: string } = {},
) {
  let times = 0;
  return kubelet.events
    .when("registered", {
      where: (event) => event.driverName === driverName && ++times === nth,
      ...patience(),
    })
    .catch(inVain(kubelet));
}

/** Resolves with kubelet's refusal of the driver, now or as soon as it comes. */
export const refused = (kubelet: SimulatedKubelet, driverName = DRIVER) =>
  kubelet.refused(driverName, patience()).catch(inVain(kubelet));

const inVain = (kubelet: SimulatedKubelet) => (cause: unknown) => {
  const last = kubelet.events.history().slice(-15);
  throw new Error(
    `${String(cause)}; its last events:\n${last.map((event) => JSON.stringify(event)).join("\n")}`,
  );
};
