import type { CsiDriverOptions as SimulatedDriverOptions } from "../../../src/testing";
import { startReadyProcess } from "../../support/child-process";
import { programPath } from "./build";
import { newestVersion } from "./versions";

/** The simulated driver's; `endpoint` is the socket to listen on, and the node ID is the name and "-node" by default. */
export type CsiDriverOptions = { readonly endpoint: string } & Pick<
  SimulatedDriverOptions,
  "name" | "nodeId" | "maxVolumes" | "topology"
>;

export type CsiDriver = Awaited<ReturnType<typeof startCsiDriver>>;

/** Starts Kubernetes' CSI mock driver as a process of its own; resolves when it listens. */
export async function startCsiDriver(options: CsiDriverOptions) {
  const { endpoint, name, nodeId = `${name}-node`, maxVolumes = 0, topology = {} } = options;
  return startReadyProcess(programPath("csidriver", newestVersion), [
    `--endpoint=${endpoint}`,
    `--name=${name}`,
    `--node-id=${nodeId}`,
    `--max-volumes=${maxVolumes}`,
    ...Object.entries(topology).map(([key, value]) => `--topology=${key}=${value}`),
  ]);
}
