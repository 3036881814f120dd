import { startDriverPod } from "./driver-pod";
import type { Node } from "./node-folder";

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
