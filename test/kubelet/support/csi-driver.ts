import { type Exit, startReadyProcess } from "../../support/child-process";
import { programPath } from "./build";
import { newestVersion } from "./versions";

export interface CsiDriverOptions {
  /** Path of the socket to listen on; its folder must exist. */
  readonly endpoint: string;
  readonly name: string;
  /** The node's ID in the driver's words. @default the driver's name and "-node" */
  readonly nodeId?: string;
  /** Volumes that fit on the node. @default not reported */
  readonly maxVolumes?: number;
  /** Topology segments. @default none */
  readonly topology?: Readonly<Record<string, string>>;
}

export interface CsiDriver extends AsyncDisposable {
  /** SIGKILL; its socket file stays. Resolves when it ended. */
  readonly kill: () => Promise<Exit>;
  /** SIGSTOP and SIGCONT make it hang, and go on. */
  readonly signal: (name: NodeJS.Signals) => void;
  readonly close: () => Promise<void>;
}

/** Starts Kubernetes' CSI mock driver as a process of its own; resolves when it listens. */
export async function startCsiDriver(options: CsiDriverOptions): Promise<CsiDriver> {
  const { endpoint, name, nodeId = `${name}-node`, maxVolumes = 0, topology = {} } = options;
  const driver = await startReadyProcess(programPath("csidriver", newestVersion), [
    `--endpoint=${endpoint}`,
    `--name=${name}`,
    `--node-id=${nodeId}`,
    `--max-volumes=${maxVolumes}`,
    ...Object.entries(topology).map(([key, value]) => `--topology=${key}=${value}`),
  ]);
  const kill = () => {
    driver.signal("SIGKILL");
    return driver.exited;
  };
  return { kill, signal: driver.signal, close: driver.close, [Symbol.asyncDispose]: driver.close };
}
