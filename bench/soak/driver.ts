import { setTimeout as delay } from "node:timers/promises";
import { type CsiDriver, startCsiDriver } from "../../test/kubelet/support/csi-driver";
import type { DriverPaths } from "../../test/kubelet/support/node-folder";
import { roleOf } from "./cast";

/** A CSI driver of the node, through all its restarts. */
export interface Driver extends AsyncDisposable {
  readonly name: string;
  readonly paths: DriverPaths;
  /** The node ID that CSINode has when all is well. It changes with a restart if kubelet must notice restarts. */
  readonly nodeId: string;
  /** Ends it, and starts it again after `awayMs`. */
  restart(how: "kill" | "close", awayMs: number): Promise<void>;
  /** It does not answer for so long; its connections stay. */
  hang(forMs: number): Promise<void>;
}

export async function startDriver(name: string, paths: DriverPaths): Promise<Driver> {
  const isReadAnew = roleOf(name).flags.includes("--reregister-on-driver-restart");
  let starts = 0;
  const nodeId = () => (isReadAnew ? `${name}-node-${starts}` : `${name}-node`);
  const start = (): Promise<CsiDriver> => {
    starts += 1;
    return startCsiDriver({ endpoint: paths.kubeletRegistrationPath, name, nodeId: nodeId() });
  };
  let driver = await start();
  return {
    name,
    paths,
    get nodeId() {
      return nodeId();
    },
    restart: async (how, awayMs) => {
      await driver[how]();
      await delay(awayMs);
      driver = await start();
    },
    hang: async (forMs) => {
      driver.signal("SIGSTOP");
      await delay(forMs);
      driver.signal("SIGCONT");
    },
    [Symbol.asyncDispose]: async () => {
      driver.signal("SIGCONT");
      await driver.close();
    },
  };
}
