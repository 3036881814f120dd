import { pause, untilNextLookMs } from "../../../base/pause";
import { watchPath } from "../../../unix/path-watch";
import type { InPlaceState, LoopEvent } from "../../model/state";
import { type RegistrationContext, socketPathOf } from "../context";
import { isKubeletBusy } from "./asked";

/**
 * The official registrar removes the socket that it finds, then binds its own, and fails where a socket has come in
 * between: so long it is given, also with a tight CPU limit.
 */
const ANOTHER_BINDS_WITHIN_MS = 150;

/**
 * While our socket is in place, in any state: ends when it is gone, dead or taken by another registrar, or when the
 * driver came back and is to be registered anew. Something that is no socket in its place counts as gone: kubelet has
 * deregistered the driver by then.
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
  const watch = watchPath(socketPath, context.log.named("in-place"));
  try {
    for (;;) {
      let found = await context.socket.look(socketPath);
      if (found === "gone" && (await pause(ANOTHER_BINDS_WITHIN_MS, signal)))
        found = await context.socket.look(socketPath);
      if (signal.aborted) return undefined;
      if (found === "taken") return { kind: "socket-taken", alias: state.facts.alias };
      if (!isKubeletBusy(state, context)) {
        if (found === "dead") return { kind: "socket-dead" };
        if (found !== "ours") return { kind: "socket-gone" };
        if (state.again) return { kind: state.again, kubeletIsIdle: true };
      }
      await watch.wait(signal, untilNextLookMs()); // The net under inotify.
      if (signal.aborted) return undefined;
      watch.rearm();
    }
  } finally {
    watch.close();
  }
}
