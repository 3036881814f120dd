import { type SimulatedCsiDriver, startCsiDriver } from "../../src/simulator/csi-driver";
import type { CsiDriverOptions } from "../../src/simulator/csi-driver-options";
import { type SimulatedKubelet, startKubelet } from "../../src/simulator/kubelet";
import type { KubeletOptions } from "../../src/simulator/kubelet-options";
import {
  type FakeRegistrar,
  type FakeRegistrarOptions,
  startFakeRegistrar,
} from "../simulator/fake-registrar";
import { PATIENCE_MS } from "./history";
import { createNodeFolder, type NodeFolder } from "./node-folder";

/** The driver of a node, unless a test calls it otherwise. */
export const DRIVER = "x.csi";

/** A node in a folder, and what runs on it; all of it is ended with it, and what does not end well is told. */
export interface SimulatedNode extends NodeFolder {
  /** Where the registration socket of the driver belongs. */
  readonly socketPath: string;
  /** Starts a driver, DRIVER at `csiAddress` unless told. */
  driver(options?: Partial<CsiDriverOptions>): Promise<SimulatedCsiDriver>;
  /** Starts a kubelet that looks more often than a real one, and waits longer for an answer: machines are slow. */
  kubelet(options?: Partial<KubeletOptions>): Promise<SimulatedKubelet>;
  /** Starts a plugin that only answers, for DRIVER unless told. */
  plugin(options?: Partial<FakeRegistrarOptions>): Promise<FakeRegistrar>;
  /** Ends something with the node. */
  keep<Part extends AsyncDisposable>(part: Part): Part;
}

export interface SimulatedNodeOptions {
  readonly driverName?: string;
  /** @default 10 */
  readonly reconcilePeriodMs?: number;
}

export async function createSimulatedNode({
  driverName = DRIVER,
  reconcilePeriodMs = 10,
}: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
  const folder = await createNodeFolder();
  const { csiAddress, pluginDir } = folder;
  const socketPath = folder.socketPathOf(driverName);
  const parts: AsyncDisposable[] = [];
  const keep = <Part extends AsyncDisposable>(part: Part): Part => {
    parts.push(part);
    return part;
  };
  return {
    ...folder,
    socketPath,
    keep,
    driver: async (options) =>
      keep(await startCsiDriver({ csiAddress, name: driverName, nodeId: "n1", ...options })),
    kubelet: async ({ timings, ...options } = {}) => {
      const patient = { getInfoMs: PATIENCE_MS, notifyMs: PATIENCE_MS, ...timings };
      return keep(
        await startKubelet({
          pluginRegistrationPath: pluginDir,
          reconcilePeriodMs,
          ...options,
          timings: patient,
          waitTimeoutMs: PATIENCE_MS,
        }),
      );
    },
    plugin: async ({ info, ...options } = {}) =>
      keep(
        await startFakeRegistrar({
          socketPath,
          info: { name: driverName, endpoint: csiAddress, ...info },
          ...options,
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      const endings = await Promise.allSettled(parts.reverse().map((part) => part[Symbol.asyncDispose]()));
      await folder[Symbol.asyncDispose]();
      for (const ending of endings) if (ending.status === "rejected") throw ending.reason;
    },
  };
}
