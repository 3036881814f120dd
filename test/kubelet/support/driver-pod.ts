import { type CsiDriver, type CsiDriverOptions, startCsiDriver } from "./csi-driver";
import type { DriverPaths, NodeFolder } from "./node-folder";
import { type Registrar, startRegistrar } from "./registrar";

/** What a driver's DaemonSet runs on a node: the driver and its registrar. */
export interface DriverPod extends AsyncDisposable {
  readonly paths: DriverPaths;
  readonly driver: CsiDriver;
  readonly registrar: Registrar;
}

/** Starts both at the same time, as a pod does; `flags` are for the registrar, beside those that it needs. */
export async function startDriverPod(
  node: NodeFolder,
  options: Omit<CsiDriverOptions, "endpoint">,
  flags: readonly string[] = [],
): Promise<DriverPod> {
  const paths = await node.addDriver(options.name);
  const starting = [
    startRegistrar([...paths.args, ...flags]),
    startCsiDriver({ endpoint: paths.kubeletRegistrationPath, ...options }),
  ] as const;
  async function close(): Promise<void> {
    await Promise.all(
      (await Promise.allSettled(starting)).map(
        (start) => start.status === "fulfilled" && start.value.close(),
      ),
    );
  }
  try {
    const [registrar, driver] = await Promise.all(starting);
    return { paths, driver, registrar, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
