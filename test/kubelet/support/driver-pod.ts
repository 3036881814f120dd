import { type CsiDriverOptions, startCsiDriver } from "./csi-driver";
import type { NodeFolder } from "./node-folder";
import { startRegistrar } from "./registrar";

/** Starts what a driver's DaemonSet runs on a node, both at the same time; `flags` are added to the registrar's own. */
export async function startDriverPod(
  node: NodeFolder,
  options: Omit<CsiDriverOptions, "endpoint">,
  flags: readonly string[] = [],
) {
  const paths = await node.addDriver(options.name);
  const starting = [
    startRegistrar([...paths.args, ...flags]),
    startCsiDriver({ endpoint: paths.kubeletRegistrationPath, ...options }),
  ] as const;
  async function close(): Promise<void> {
    const started = await Promise.allSettled(starting);
    await Promise.all(started.map((start) => start.status === "fulfilled" && start.value.close()));
  }
  try {
    const [registrar, driver] = await Promise.all(starting);
    return { paths, driver, registrar, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function startRegisteredPod(...args: Parameters<typeof startDriverPod>) {
  const pod = await startDriverPod(...args);
  await pod.registrar.reached("registered");
  return pod;
}
