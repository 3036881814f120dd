import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { watchPath } from "../../../sockets/path-watch";
import { hintOrPause, tryConnect } from "../../../sockets/unix-socket";
import { namesIn } from "../alias";
import type { RegistrationCore } from "../registration-core";
import { askInfo } from "../self-check";
import type { StateChange } from "../state";

/** The net under inotify and the held connection. */
const LOOK_EVERY_MS = 5_000;
/** A peer that closes our connection at once is looked at again no sooner. */
const HOLD_AT_LEAST_MS = 500;
/** Kubelet spoke of a peer that we cannot find: how long until we try again ourselves. */
const UNSEEN_PEER_MS = 30_000;

/**
 * State `standby`: a living registrar of the same driver holds the registration. We take our own socket away if it is
 * still ours, leave theirs alone, and keep a silent connection to it: its end tells us within moments that they are
 * gone, be it by SIGKILL, which leaves the file in place and no event to watch.
 */
export async function standBy(
  core: RegistrationCore,
  signal: AbortSignal,
  change: StateChange,
): Promise<void> {
  const log = core.log.named("standby");
  core.socket.withdraw();
  const peer = await findPeer(core, signal);
  if (signal.aborted) return;
  if (peer !== undefined) {
    log.info("Standing by for the registrar that holds the socket", { socketPath: peer });
    await untilGone(peer, core, signal);
  } else if (change.event.kind === "already-registered") {
    log.info("Kubelet knows the driver by another socket, which is not to be found: trying again later", {
      after: `${UNSEEN_PEER_MS / 1000}s`,
    });
    await delay(UNSEEN_PEER_MS, undefined, { signal }).catch(() => {});
  }
  if (!signal.aborted) core.machine.dispatch({ kind: "peer-gone" });
}

/** The living socket of the same driver: at our own path, or at any other in the directory that says so. */
async function findPeer(core: RegistrationCore, signal: AbortSignal): Promise<string | undefined> {
  const { pluginRegistrationPath, timeoutMs } = core.options;
  if ((await core.socket.look(core.socketPath)) === "taken") return core.socketPath;
  const names = namesIn(pluginRegistrationPath).filter((name) => !name.startsWith("."));
  for (const path of names.map((name) => join(pluginRegistrationPath, name))) {
    if ((await tryConnect(path)) !== undefined) continue;
    const info = await askInfo(path, { timeoutMs, signal }, core.protos).catch(() => undefined);
    if (info?.name === core.driverName) return path;
  }
  return undefined;
}

/** Resolves when nobody listens at `path` any more. */
async function untilGone(path: string, core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const watch = watchPath(path, core.log);
  try {
    while (!signal.aborted) {
      const connection = connect({ path });
      connection.on("error", () => {});
      connection.on("close", watch.hint);
      connection.resume(); // What the peer sends must be read, or the end behind it is never seen.
      const since = Date.now();
      await hintOrPause(watch.changed(), LOOK_EVERY_MS, signal);
      connection.off("close", watch.hint);
      connection.destroy();
      const verdict = await core.socket.look(path);
      if (verdict === "gone" || verdict === "dead") return;
      const heldMs = Date.now() - since;
      if (heldMs < HOLD_AT_LEAST_MS)
        await delay(HOLD_AT_LEAST_MS - heldMs, undefined, { signal }).catch(() => {});
      watch.rearm();
    }
  } finally {
    watch.close();
  }
}
