import { setTimeout as delay } from "node:timers/promises";
import { KUBELET_BUSY_MS, type RegistrationCore } from "../registration-core";

/** State `asked`: kubelet called GetInfo. Says so if it then stays silent for longer than it ever should. */
export async function awaitNotice(core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const log = core.log.named("asked");
  await delay(KUBELET_BUSY_MS, undefined, { signal }).catch(() => {});
  if (signal.aborted) return;
  log.warn("Kubelet called GetInfo and has not told the outcome", {
    waited: `${KUBELET_BUSY_MS / 1000}s`,
    check: "kubelet's log, and whether the driver's NodeGetInfo answers",
  });
}
