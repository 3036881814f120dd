import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CsiDriverOptions, SimulatedKubelet } from "../../../src/testing";
import type { LogLine } from "./log-line";
import { registered, registrarArguments, type TestNode } from "./node";
import type { CliProcess, LineOptions } from "./process";

export type DriverFolders = ReturnType<typeof driverFoldersOf>;

/** The registration sockets on a node; names with a dot are there for moments only. */
export const socketsIn = (node: TestNode) => node.visibleFiles();
export const socketOf = (name: string) => `${name}-reg.sock`;

export const by = (csiAddress: string): LineOptions => ({
  where: ({ fields }) => fields.csiAddress === csiAddress,
});

/** Resolves when the log says that the registration of this driver came to this state, for the nth time. */
export const reached = (registrar: CliProcess, driver: string, state: string, nth = 1): Promise<LogLine> =>
  registrar.line("Registration state changed", {
    where: ({ fields }) => fields.driver === driver && fields.to === state,
    nth,
  });

export { nameOf, namesOf } from "../../kubelet/support/crowd";

/** The drivers of one node, each with a folder of its own, and a registrar of all of them. */
export function driverFoldersOf(node: TestNode) {
  const plugins = join(dirname(node.csiAddress), "plugins");
  const csiAddress = (folder: string) => join(plugins, folder, "csi.sock");
  return {
    folder: plugins,
    csiAddress,
    /** Starts a driver in a folder, under the folder's name unless told otherwise. */
    add: (folder: string, options?: Partial<CsiDriverOptions>) => {
      mkdirSync(join(plugins, folder), { recursive: true });
      return node.driver({ csiAddress: csiAddress(folder), name: folder, ...options });
    },
    /** Removes a driver's folder with all that is in it, as an uninstallation does. */
    remove: (folder: string) => rmSync(join(plugins, folder), { recursive: true }),
    registrar: (...flags: readonly string[]) =>
      node.cli([...registrarArguments(node, csiAddress("*")), ...flags]),
  };
}

/** Resolves when kubelet registers all of these, for the nth time each. */
export async function allRegistered(kubelet: SimulatedKubelet, names: readonly string[], nth = 1) {
  await Promise.all(names.map((driverName) => registered(kubelet, { driverName, nth })));
}
