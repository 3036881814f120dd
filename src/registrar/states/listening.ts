import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { explainSilence } from "../hints";
import type { RegistrationCore } from "../registration-core";

/** Kubelet's reconcile loop runs each second: this long without a call after a leftover socket means backoff. */
const ALIAS_AFTER_MS = 2_500;
/** When to say that kubelet never called; the last wait repeats. */
const REMIND_AFTER_MS = [30_000, 120_000, 600_000, 3_600_000] as const;

/**
 * State `listening`: our socket is in place and kubelet has not called yet.
 *
 * Kubelet backs off by path, up to 2 min 2 s, from a socket that a reboot left behind, and a new file under the same
 * path does not end that (goroutinemap's exponential backoff). So after a leftover, and only as long as we were never
 * registered, the socket moves once to another name, from which kubelet has not backed off.
 */
export function awaitKubelet(core: RegistrationCore, signal: AbortSignal): void {
  const { memory } = core;
  if (memory.foundLeftover && !memory.everRegistered && memory.alias === undefined)
    void moveToAlias(core, signal);
  void remind(core, signal);
}

async function moveToAlias(core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const { memory, machine } = core;
  const log = core.log.named("listening");
  await delay(ALIAS_AFTER_MS, undefined, { signal }).catch(() => {});
  if (signal.aborted || core.kubeletIsBusy()) return;
  memory.alias = `${core.driverName}-${randomInt(36 ** 4)
    .toString(36)
    .padStart(4, "0")}`;
  log.info("Kubelet backs off from the socket that was left behind, announcing under another name", {
    was: core.socket.path,
    socketPath: core.socketPath,
  });
  machine.dispatch({ kind: "kubelet-silent" });
}

async function remind(core: RegistrationCore, signal: AbortSignal): Promise<void> {
  const log = core.log.named("listening");
  let waitedMs = 0;
  for (let round = 0; ; round++) {
    const waitMs = REMIND_AFTER_MS[Math.min(round, REMIND_AFTER_MS.length - 1)] as number;
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
