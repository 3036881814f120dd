import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Kubelet, startKubelet } from "../../test/kubelet/support/kubelet";
import { createNodeFolder } from "../../test/kubelet/support/node-folder";
import { createKeeper } from "../keeper";
import { DRIVERS, ROLES, type Role, roleOf } from "./cast";
import { type Driver, startDriver } from "./driver";
import { type RegistrarProcess, startRegistrarProcess } from "./registrar-process";

/** The node under soak. Whatever runs on it ends with it. */
export interface SoakNode extends AsyncDisposable {
  readonly pluginDir: string;
  readonly kubelet: Kubelet;
  /** All that there have been, the one that runs is the last. */
  readonly kubelets: readonly Kubelet[];
  /** By role. */
  readonly registrars: ReadonlyMap<string, RegistrarProcess>;
  /** By driver. */
  readonly peers: Map<string, RegistrarProcess>;
  /** Every registrar that ever ran here, in the order of their starts. */
  readonly everyone: readonly RegistrarProcess[];
  driver(name: string): Driver;
  /** Those that may hold this driver's registration. */
  candidates(driver: string): readonly RegistrarProcess[];
  /** Kills kubelet, does what is to be done while it is away, waits and starts it anew. */
  restartKubelet(downMs: number, meanwhile?: () => Promise<void>): Promise<void>;
  /** Removes the plugin registration directory with all that is in it. */
  removePluginDirectory(): Promise<void>;
  /** Files that kubelet looks at. */
  visibleSockets(): readonly string[];
  /** Removes the registration sockets of this driver, or all. */
  removeSockets(driver?: string): Promise<void>;
  /** Starts a role's registrar, which has the role from then on. Resolves when it serves HTTP. */
  startRole(role: Role): Promise<void>;
  startPeer(driver: string): Promise<void>;
  /** Remembers what is to be undone when the node has settled next. */
  afterSettling(undo: () => void): void;
  undoAll(): void;
}

const HTTP = "--http-endpoint=127.0.0.1:0";
/** By default a sidecar ends when it is refused; node-wide it is the only way. */
const RETRY = "--on-registration-failure=retry";

/** Lays out a node and starts kubelet, every driver and every role. `command` runs a registrar. */
export async function startSoakNode(version: string, command: readonly string[]): Promise<SoakNode> {
  const folder = await createNodeFolder();
  const { pluginDir } = folder;
  const { keep, ...keeper } = createKeeper();
  keep(folder);
  const drivers = new Map<string, Driver>();
  const registrars = new Map<string, RegistrarProcess>();
  const peers = new Map<string, RegistrarProcess>();
  const everyone: RegistrarProcess[] = [];
  const kubelets: Kubelet[] = [];
  const undos: (() => void)[] = [];

  const keepKubelet = (one: Kubelet) => void kubelets.push(keep(one));
  const kubelet = () => kubelets.at(-1) as Kubelet;
  const driver = (name: string): Driver => {
    const known = drivers.get(name);
    if (known === undefined) throw new Error(`there is no driver ${name}`);
    return known;
  };
  const startRegistrar = async (name: string, args: readonly string[]): Promise<RegistrarProcess> => {
    const registrar = keep(await startRegistrarProcess(name, command, [...args, HTTP]));
    everyone.push(registrar);
    await registrar.port;
    return registrar;
  };
  const startRole = async (role: Role) => {
    const { kind, name, drivers: names, flags } = role;
    const [first = ""] = names;
    const pattern = join(dirname(pluginDir), "plugins", `${first.split("-")[0]}-*`, "csi.sock");
    const args =
      kind === "sidecar"
        ? [...driver(first).paths.args, RETRY]
        : [
            `--csi-address=${pattern}`,
            `--kubelet-registration-path=${pattern}`,
            `--plugin-registration-path=${pluginDir}`,
          ];
    registrars.set(name, await startRegistrar(name, [...args, ...flags]));
  };
  try {
    keepKubelet(await startKubelet({ version, pluginDir }));
    for (const name of DRIVERS)
      drivers.set(name, keep(await startDriver(name, await folder.addDriver(name))));
    for (const role of ROLES) await startRole(role);
  } catch (error) {
    await keeper[Symbol.asyncDispose]();
    throw error;
  }
  return {
    pluginDir,
    registrars,
    peers,
    everyone,
    kubelets,
    get kubelet() {
      return kubelet();
    },
    driver,
    candidates: (name) =>
      [registrars.get(roleOf(name).name), peers.get(name)].filter((one) => one !== undefined),
    restartKubelet: async (downMs, meanwhile = async () => {}) => {
      await kubelet().kill();
      await meanwhile();
      await delay(downMs);
      keepKubelet(await kubelet().restart());
    },
    removePluginDirectory: folder.removePluginDirectory,
    visibleSockets: folder.visibleFiles,
    removeSockets: async (of = "") => {
      const names = folder.visibleFiles().filter((name) => name.startsWith(of));
      await Promise.all(names.map((name) => rm(join(pluginDir, name), { force: true })));
    },
    startRole,
    startPeer: async (name) => {
      const { kind, flags } = roleOf(name);
      const args = [...driver(name).paths.args, RETRY, ...(kind === "sidecar" ? flags : [])];
      peers.set(name, await startRegistrar(`peer of ${name}`, args));
    },
    afterSettling: (undo) => void undos.push(undo),
    undoAll: () => {
      for (const undo of undos.splice(0)) undo();
    },
    ...keeper,
  };
}
