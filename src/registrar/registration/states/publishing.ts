import { backoffMs } from "../../../backoff";
import { RegistrarError } from "../../../errors";
import { sweepDotSockets } from "../../../sockets/dot-socket";
import { watchPath } from "../../../sockets/path-watch";
import { hintOrPause } from "../../../sockets/unix-socket";
import { findAlias } from "../alias";
import { failedBy, type RegistrationCore } from "../registration-core";
import type { StateChange } from "../state";

/** Between attempts to publish again when a folder is away or full; inotify may tell sooner. */
const PUBLISH_BACKOFF = { initialMs: 1_000, maxMs: 30_000, jitter: 0.2 };

/**
 * State `publishing`: puts our socket in place. The first time whatever cannot be is fatal, as at the official
 * registrar, and a living socket at our path is replaced, unless the options say to stand by for it: the newest
 * registrar wins, as in a rolling update. Later on, and once we have stood by, we heal: failures are retried, and a
 * living peer means standby.
 */
export async function announce(
  core: RegistrationCore,
  signal: AbortSignal,
  change: StateChange,
): Promise<void> {
  const { socket, machine, memory, events } = core;
  const log = core.log.named("publishing");
  const isFirst = memory.publications === 0;
  if (isFirst) {
    const { pluginRegistrationPath } = core.options;
    void sweepDotSockets(pluginRegistrationPath);
    memory.alias = await findAlias(pluginRegistrationPath, core.driverName);
  }
  const isAnnouncedAnew = isFirst || change.event.kind === "driver-renamed";
  const overLiving = isAnnouncedAnew && core.options.placeTaken !== "stand-by";
  const repeats = change.event.kind === "retry" && memory.repeats > 0;
  const failureIsFatal = isFirst && change.event.kind !== "peer-gone";
  for (let attempt = 0; !signal.aborted; attempt++) {
    const socketPath = core.socketPath;
    const watch = watchPath(socketPath, log);
    try {
      log.v(repeats || attempt > 0 ? 4 : 0).info("Starting Registration Server", { socketPath });
      const before = await socket.publish(socketPath, { overLiving, signal });
      if (before === "taken" && !overLiving) {
        machine.dispatch({ kind: "socket-taken" });
        return;
      }
      if (isFirst) memory.foundLeftover = before === "dead";
      memory.publications += 1;
      memory.driverRestarted = false;
      log.v(repeats ? 4 : 0).info("Registration Server started", { socketPath, found: before });
      events.emit({ kind: "published", socketPath, reason: change.event.kind });
      machine.dispatch({ kind: "published", socketPath });
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.error(error, "Failed to listen on socket", { socketPath });
      if (failureIsFatal || !(error instanceof RegistrarError)) return core.fail(failedBy(error));
      await hintOrPause(watch.changed(), backoffMs(PUBLISH_BACKOFF, attempt), signal);
    } finally {
      watch.close();
    }
  }
}
