import { pause } from "../../../base/pause";
import type { InPlaceState, StateOf } from "../../model/state";
import type { RegistrationContext } from "../context";

/** The longest that kubelet may be between GetInfo and its status: NodeGetInfo has 2 min (csi_plugin.go), and slack. */
const KUBELET_BUSY_MS = 150_000;

/** Whether kubelet is between GetInfo and its registration status, when another publication would undo its work. */
export function isKubeletBusy({ askedAtMs }: InPlaceState, { server }: RegistrationContext): boolean {
  return askedAtMs !== undefined && performance.now() - askedAtMs < KUBELET_BUSY_MS && server.hasCaller;
}

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
