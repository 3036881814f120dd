import { pause } from "../../../pause";
import { KUBELET_BUSY_MS, type RegistrationContext } from "../context";
import type { StateOf } from "../state";

/** State `asked`: kubelet called GetInfo. Says so if it then stays silent for longer than it ever should. */
export async function awaitRegistrationStatus(
  { askedAtMs }: StateOf<"asked">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  const log = context.log.named("asked");
  if (!(await pause(askedAtMs + KUBELET_BUSY_MS - performance.now(), signal))) return;
  log.warn("Kubelet called GetInfo and has not told the outcome", {
    waited: `${KUBELET_BUSY_MS / 1000}s`,
    check: "kubelet's log, and whether the driver's NodeGetInfo answers",
  });
}
