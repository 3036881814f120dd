import { startCli } from "../../end-to-end/support/process";
import { type CsiDriverOptions, startCsiDriver } from "./csi-driver";
import type { Node, NodeFolder } from "./node-folder";

/** What the log says each time that a registration socket has been put in place. */
export const PUBLISHED = "Registration Server started";

/** Starts what a driver's DaemonSet runs on a node, both at the same time; `flags` are added to the registrar's own. */
export async function startDriverPod(
  node: NodeFolder,
  options: Omit<CsiDriverOptions, "endpoint">,
  flags: readonly string[] = [],
) {
  const paths = await node.addDriver(options.name);
  const registrar = startCli([...paths.args, ...flags]);
  const driver = await startCsiDriver({ endpoint: paths.kubeletRegistrationPath, ...options });
  const close = async () => void (await Promise.all([registrar[Symbol.asyncDispose](), driver.close()]));
  return { paths, driver, registrar, [Symbol.asyncDispose]: close };
}

export async function startRegisteredPod(...args: Parameters<typeof startDriverPod>) {
  const pod = await startDriverPod(...args);
  await pod.registrar.reached("registered");
  return pod;
}

/**
 * Resolves when kubelet has dealt with everything that happened in the plugin registration directory until now, so
 * that a test can tell that something did not happen: registers a driver and takes it away again. Kubelet's watcher
 * keeps the order of events, and its loop unregisters before it registers.
 */
export async function settled(node: Node): Promise<void> {
  const { kubelet } = node;
  const name = "settled.csi.example.com";
  const eventsBefore = await kubelet.eventsSoFar();
  {
    await using _pod = await startDriverPod(node, { name });
    await kubelet.registered(name);
  }
  await kubelet.deregistered(name);
  await kubelet.events.waitFor((told) => told.event === "deregister" && told.plugin === name, eventsBefore);
}
