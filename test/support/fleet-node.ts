import { existsSync, mkdirSync, rmSync } from "node:fs";
import type { StateName } from "../../src/registrar/model/state";
import type { NodeRegistrarOptions } from "../../src/registrar/node-wide/options";
import { type NodeRegistrar, startNodeRegistrar } from "../../src/registrar/start-node-registrar";
import { eventually } from "./eventually";
import { registerOnce } from "./fake-kubelet";
import { PATIENCE_MS } from "./history";
import { createNodeFolder } from "./node-folder";
import { type RecordedLog, recordLog } from "./recorded-log";
import { type Answer, type ScriptedDriver, startScriptedDriver } from "./scripted-driver";

/** The folders of a node with many drivers, none of which is there at first. */
export interface FleetNode extends AsyncDisposable {
  readonly at: (...names: readonly string[]) => string;
  /** What a fleet is told about them: `plugins/STAR/csi.sock`, to kubelet `/host/STAR/csi.sock`. */
  readonly options: NodeRegistrarOptions;
  /** The driver socket in a folder of the drivers' folder. */
  csiAddress(folder: string): string;
  /** Where the registration socket of a name belongs. */
  socketPath(driverName: string): string;
  /** The registration sockets there are; names with a dot are there for moments only. */
  sockets(): readonly string[];
  /** Starts a driver in a folder. Its name is the folder's unless told otherwise. */
  driver(folder: string, ...answers: readonly Answer[]): Promise<ScriptedDriver>;
  /** Removes a driver's folder and all that is in it. */
  remove(folder: string): void;
}

export async function createFleetNode(): Promise<FleetNode> {
  const folder = await createNodeFolder();
  const { at, pluginDir } = folder;
  const drivers: ScriptedDriver[] = [];
  const csiAddress = (name: string) => at("plugins", name, "csi.sock");
  mkdirSync(at("plugins"));
  return {
    at,
    options: {
      csiAddresses: [csiAddress("*")],
      kubeletRegistrationPaths: ["/host/*/csi.sock"],
      pluginRegistrationPath: pluginDir,
      timeoutMs: PATIENCE_MS,
    },
    csiAddress,
    socketPath: folder.socketPathOf,
    sockets: folder.visibleFiles,
    driver: async (name, ...answers) => {
      mkdirSync(at("plugins", name), { recursive: true });
      const driver = await startScriptedDriver(
        csiAddress(name),
        ...(answers.length > 0 ? answers : [{ name }]),
      );
      drivers.push(driver);
      return driver;
    },
    remove: (name) => rmSync(at("plugins", name), { recursive: true }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(drivers.map((driver) => driver.kill()));
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A fleet, its log, and what kubelet would do. */
export interface TestFleet extends AsyncDisposable {
  readonly fleet: NodeRegistrar;
  readonly log: RecordedLog;
  /** Resolves when the driver in this folder is in this state; undefined: when it has no place in the fleet. */
  state(folder: string, wanted: StateName | undefined): Promise<void>;
  /** Registers a driver as kubelet does, as soon as it is announced; answers the endpoint that it told. */
  register(driverName: string): Promise<string>;
}

export async function startTestFleet(
  node: FleetNode,
  options: Partial<NodeRegistrarOptions> = {},
): Promise<TestFleet> {
  const log = recordLog();
  const fleet = await startNodeRegistrar({ ...node.options, ...options, logger: log.logger });
  const stateOf = (folder: string) =>
    fleet.all.find((one) => one.csiAddress === node.csiAddress(folder))?.status().state;
  return {
    fleet,
    log,
    state: (folder, wanted) => eventually(() => expect([folder, stateOf(folder)]).toEqual([folder, wanted])),
    register: async (driverName) => {
      const socketPath = node.socketPath(driverName);
      await eventually(() => expect(existsSync(socketPath)).toBe(true));
      return (await registerOnce(socketPath)).endpoint;
    },
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
}
