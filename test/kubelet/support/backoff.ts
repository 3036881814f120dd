import { startDriverPod } from "./driver-pod";
import type { Kubelet } from "./kubelet";
import type { NodeFolder } from "./node-folder";

/**
 * Leaves a dead socket of the driver's, and kubelet waiting for 16 s until it dials that path again: time for the next
 * registrar to start on a busy machine, and to see that nobody calls. After a reboot it takes kubelet a minute to get
 * there, as it dials a dead socket for 10 s each time; here it refuses a living registrar, which is killed then. Takes
 * about 17 s, in which kubelet waits for 0.5, 1, 2, 4 and 8 s.
 */
export async function backOffFromDeadSocket(node: NodeFolder, kubelet: Kubelet, name: string): Promise<void> {
  await kubelet.command({ command: "refuse", text: "before the reboot", times: 6, stage: "validate" });
  await using pod = await startDriverPod(node, { name }, ["--on-registration-failure=retry"]);
  await kubelet.log.waitFor((line) => line.includes("(durationBeforeRetry 16s)"));
  pod.registrar.signal("SIGKILL");
  await pod.registrar.exited;
}
