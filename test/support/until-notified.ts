import type { EventOf } from "../../src/base/event-source";
import type { WaitOptions } from "../../src/simulator/event-stream";
import type { KubeletEvent } from "../../src/simulator/kubelet/events";
import type { SimulatedKubelet } from "../../src/simulator/kubelet/kubelet";

/** Resolves when kubelet has reported this registration to the registrar, which it does after it. */
export async function untilNotified(
  kubelet: SimulatedKubelet,
  { socketPath, atMs }: EventOf<KubeletEvent, "registered">,
  options?: WaitOptions,
): Promise<void> {
  await kubelet.events.when("called", {
    ...options,
    where: (event) =>
      event.call === "NotifyRegistrationStatus" && event.socketPath === socketPath && event.atMs >= atMs,
  });
}
