import { startDriverPod } from "./driver-pod";
import type { Kubelet } from "./kubelet";
import type { NodeFolder } from "./node-folder";

/**
 * Leaves a dead socket of the driver's, and kubelet waiting for 8 s until it dials that path again. After a reboot it
 * takes kubelet a minute to get there, as it dials a dead socket for 10 s each time; here it refuses a living
 * registrar, which is killed then. Takes about 9 s, in which kubelet waits for 0.5, 1, 2 and 4 s.
 */
export async function backOffFromDeadSocket(node: NodeFolder, kubelet: Kubelet, name: string): Promise<void> {
  await kubelet.command({ command: "refuse", text: "before the reboot", times: 5, stage: "validate" });
  await using pod = await startDriverPod(node, { name }, ["--on-registration-failure=retry"]);
  await kubelet.log.waitFor((line) => line.includes("(durationBeforeRetry 8s)"));
  pod.registrar.signal("SIGKILL");
  await pod.registrar.exited;
}
