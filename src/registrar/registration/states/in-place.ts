import { watchPath } from "../../../sockets/path-watch";
import { hintOrPause } from "../../../sockets/unix-socket";
import type { RegistrationCore } from "../registration-core";

/** The net under inotify: our socket is looked at this often. */
const LOOK_EVERY_MS = 5_000;
/** All drivers of a process look at the same moments: one wake-up, however many they are. */
const untilNextLookMs = () => LOOK_EVERY_MS - (performance.now() % LOOK_EVERY_MS);

/**
 * While our socket is in place, in any state: notices that it is gone, dead or taken by another registrar. Something
 * else in its place counts as gone: kubelet has deregistered the driver by then.
 *
 * To publish again costs a deregistration and a registration at kubelet, so nothing is done while kubelet is between
 * GetInfo and its notice (NodeGetInfo may hang for minutes, kubernetes#138170); we look again when the notice came.
 */
export async function guardSocket(core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const { socket, machine, events, memory } = core;
  const log = core.log.named("in-place");
  const socketPath = core.socketPath;
  const watch = watchPath(socketPath, log);
  const unsubscribe = events.subscribe(({ kind }) => {
    if (kind === "notified" || kind === "driver-answered") watch.hint();
  });
  try {
    while (!signal.aborted) {
      const verdict = await socket.look(socketPath);
      if (signal.aborted) return;
      if (verdict === "taken") machine.dispatch({ kind: "socket-taken" });
      else if (!core.kubeletIsBusy()) {
        if (verdict === "dead") machine.dispatch({ kind: "socket-dead" });
        else if (verdict !== "ours") machine.dispatch({ kind: "socket-gone" });
        else if (memory.driverRestarted) machine.dispatch({ kind: "driver-restarted" });
      }
      await hintOrPause(watch.changed(), untilNextLookMs(), signal);
      watch.rearm();
    }
  } finally {
    unsubscribe();
    watch.close();
  }
}
