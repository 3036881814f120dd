import type { WaitOptions } from "../../src/simulator/event-stream";
import type { KubeletEventOf, SimulatedKubelet } from "../../src/simulator/kubelet/kubelet";

/** Resolves when kubelet has told the registrar of this registration: it does that after it. */
export async function told(
  kubelet: SimulatedKubelet,
  { socketPath, atMs }: KubeletEventOf<"registered">,
  options?: WaitOptions,
): Promise<void> {
  await kubelet.events.when("called", {
    ...options,
    where: (event) =>
      event.call === "NotifyRegistrationStatus" && event.socketPath === socketPath && event.atMs >= atMs,
  });
}
