import { pause, untilNextLookMs } from "../../../base/pause";
import { watchPath } from "../../../unix/path-watch";
import type { InPlaceState, LoopEvent, StateOf } from "../../model/state";
import { type RegistrationContext, socketPathOf } from "../context";

/** The official registrar removes the socket that it finds, then binds its own: it gets this long, also with few CPUs. */
const ANOTHER_BINDS_WITHIN_MS = 150;

/** The longest that kubelet may be between GetInfo and its status: NodeGetInfo has 2 min (csi_plugin.go), and slack. */
const KUBELET_BUSY_MS = 150_000;

/**
 * While our socket is in place, in any state: ends when it is gone, dead or taken by another registrar, or when the driver
 * came back and kubelet should register it anew. A file of another kind in its place counts as gone.
 *
 * To publish again costs a deregistration and a registration at kubelet, so nothing is done while kubelet is between
 * GetInfo and its registration status (NodeGetInfo may hang for minutes, kubernetes#138170). That status makes another
 * state, in which we look again.
 */
export async function watchOurSocket(
  state: InPlaceState,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const socketPath = socketPathOf(state.facts, context);
  using watch = await watchPath(socketPath, context.log.named("in-place"));
  for (;;) {
    let found = await context.socket.look(socketPath);
    if (found === "gone" && (await pause(ANOTHER_BINDS_WITHIN_MS, signal)))
      found = await context.socket.look(socketPath);
    if (found === "hanging") found = "ours"; // Nothing can be done before the file system answers.
    if (signal.aborted) return undefined;
    if (found === "taken") return { kind: "socket-taken", alias: state.facts.alias };
    if (!isKubeletBusy(state, context)) {
      if (found === "dead") return { kind: "socket-dead" };
      if (found !== "ours")
        return { kind: (await context.socket.hasDirectory()) ? "socket-gone" : "directory-gone" };
      if (state.again) return { kind: state.again, kubeletIsIdle: true };
    }
    await watch.wait(signal, untilNextLookMs()); // The net under inotify.
    if (signal.aborted) return undefined;
    await watch.rearm();
  }
}

/** Whether kubelet is between GetInfo and its registration status, when another publication would undo its work. */
function isKubeletBusy({ askedAtMs }: InPlaceState, { server }: RegistrationContext): boolean {
  return askedAtMs !== undefined && performance.now() - askedAtMs < KUBELET_BUSY_MS && server.hasCaller;
}

/** State `asked`: warns if kubelet sends no registration status for longer than it ever should need. */
export async function remindOfMissingStatus(
  { askedAtMs }: StateOf<"asked">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  const log = context.log.named("asked");
  if (!(await pause(askedAtMs + KUBELET_BUSY_MS - performance.now(), signal))) return;
  log.warn("Kubelet called GetInfo and has not reported a status", {
    waited: `${KUBELET_BUSY_MS / 1000}s`,
    check: "kubelet's log, and whether the driver's NodeGetInfo answers",
  });
}
