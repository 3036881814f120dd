import { setTimeout as delay } from "node:timers/promises";
import { createAlias } from "../alias";
import { explainSilence } from "../hints";
import type { RegistrationCore } from "../registration-core";
import { MAX_SOCKET_PATH_BYTES, registrationSocketPath } from "../registration-socket";

/** Kubelet's reconcile loop runs each second: this long without a call, after a leftover socket, means backoff. */
const MOVE_AFTER_MS = 2_500;
/** When to say that kubelet has not called; the last wait repeats. */
const REMIND_AFTER_MS: readonly number[] = [30_000, 120_000, 600_000, 3_600_000];

/**
 * State `listening`: kubelet backs off by path, up to 2 min 2 s, from a socket that a reboot left behind, and a new
 * file under the same path does not end that (goroutinemap's exponential backoff). So after a leftover, and only as
 * long as we were never registered, the socket moves once to another name, from which kubelet has not backed off.
 */
export async function moveFromBackoff(core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const { memory, machine, driverName, options } = core;
  const log = core.log.named("listening");
  if (!memory.foundLeftover || memory.everRegistered || memory.movedFromBackoff) return;
  await delay(MOVE_AFTER_MS, undefined, { signal }).catch(() => {});
  if (signal.aborted || core.kubeletIsBusy()) return;
  memory.movedFromBackoff = true;
  const alias = createAlias(driverName);
  const was = core.socketPath;
  const now = registrationSocketPath(options.pluginRegistrationPath, alias);
  if (Buffer.byteLength(now) > MAX_SOCKET_PATH_BYTES) return;
  memory.alias = alias;
  log.info("Kubelet backs off from the socket that was left behind, publishing under another name", {
    was,
    now,
  });
  machine.dispatch({ kind: "kubelet-silent" });
}

/** State `listening`: says, ever more seldom, that kubelet has not called, and what to check. */
export async function remindOfSilence(core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const log = core.log.named("listening");
  let waitedMs = 0;
  for (let round = 0; ; round++) {
    const waitMs = REMIND_AFTER_MS[Math.min(round, REMIND_AFTER_MS.length - 1)] ?? 0;
    await delay(waitMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    waitedMs += waitMs;
    log.warn("Kubelet has not called", {
      waited: `${waitedMs / 1000}s`,
      socketPath: core.socketPath,
      check: explainSilence(core.options.pluginRegistrationPath, core.connections),
    });
  }
}
