import { existsSync, mkdirSync, rmSync } from "node:fs";
import type { StateName } from "../../src/registrar/model/state";
import type { DriverTrouble } from "../../src/registrar/model/status";
import type { NodeRegistrarOptions } from "../../src/registrar/node-wide/options";
import { startNodeRegistrar } from "../../src/registrar/start-node-registrar";
import { registerOnce } from "./dial-registration";
import { eventually } from "./eventually";
import { PATIENCE_MS } from "./history";
import { recordLog } from "./recorded-log";
import { createTestNode } from "./registrar-node";
import { type Answer, type ScriptedDriver, startScriptedDriver } from "./scripted-driver";

type FleetNode = Awaited<ReturnType<typeof createFleetNode>>;

/** A node with many drivers, each in a folder of the drivers' folder; none is there at first. */
export async function createFleetNode() {
  const node = await createTestNode();
  const { at, pluginRegistrationPath } = node;
  const csiAddress = (name: string) => at("plugins", name, "csi.sock");
  /** What a fleet is told: `plugins/STAR/csi.sock`, to kubelet `/host/STAR/csi.sock`. */
  const options: NodeRegistrarOptions = {
    csiAddresses: [csiAddress("*")],
    endpoints: ["/host/*/csi.sock"],
    pluginRegistrationPath,
    timeoutMs: PATIENCE_MS,
  };
  mkdirSync(at("plugins"));
  return {
    ...node,
    options,
    csiAddress,
    sockets: node.visibleFiles,
    driver: async (name: string, ...answers: readonly Answer[]): Promise<ScriptedDriver> => {
      mkdirSync(at("plugins", name), { recursive: true });
      const all = answers.length > 0 ? answers : [{ name }];
      return node.keep(await startScriptedDriver(csiAddress(name), ...all));
    },
    remove: (name: string): void => rmSync(at("plugins", name), { recursive: true }),
  };
}

export async function startTestFleet(node: FleetNode, options: Partial<NodeRegistrarOptions> = {}) {
  const log = recordLog();
  const fleet = await startNodeRegistrar({ ...node.options, ...options, logger: log.logger });
  const statusOf = (folder: string) =>
    fleet.all.find((one) => one.csiAddress === node.csiAddress(folder))?.status();
  return {
    fleet,
    log,
    /** Resolves when the driver in this folder is in this state; undefined: when it has no place in the fleet. */
    state: (folder: string, wanted: StateName | undefined) =>
      eventually(() => expect([folder, statusOf(folder)?.state]).toEqual([folder, wanted])),
    /** Resolves when the driver in this folder is not asked for its name, for this reason. */
    trouble: (folder: string, wanted: DriverTrouble["kind"]) =>
      eventually(() =>
        expect(statusOf(folder)).toMatchObject({ state: "waiting", trouble: { kind: wanted } }),
      ),
    register: async (driverName: string): Promise<string> => {
      const socketPath = node.socketPath(driverName);
      await eventually(() => expect(existsSync(socketPath)).toBe(true));
      return (await registerOnce(socketPath)).endpoint;
    },
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
}
