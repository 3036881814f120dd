import { startReadyProcess } from "../../support/child-process";
import { programPath } from "./build";
import { newestVersion } from "./versions";

export interface CsiDriverOptions {
  /** Path of the socket to listen on; its folder must exist. */
  readonly endpoint: string;
  readonly name: string;
  /** The node's ID in the driver's words. @default the driver's name and "-node" */
  readonly nodeId?: string;
  readonly maxVolumes?: number;
  readonly topology?: Readonly<Record<string, string>>;
}

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
