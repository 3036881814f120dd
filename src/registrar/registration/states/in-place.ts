import { REMINDERS, reminderMs } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import { UNHEARD } from "../../../logging/logger";
import { mountAt } from "../../../unix/file-calls";
import { realPathOf } from "../../../unix/files";
import { onFileSystem } from "../../../unix/mounts";
import { sweepDotSockets } from "../../../unix/private-socket";
import { type LoopEvent, type StateOf, stateNameOf } from "../../model/state";
import { anotherAlias, type RegistrationContext, socketPathOf } from "../context";
import { judgeInPlace, KUBELET_BUSY_MS } from "../decisions";
import { BUSY_WITH_DRIVER, explainSilence } from "../hints";

type InPlace = StateOf<"in-place">;

/**
 * Watches our socket and kubelet, and ends with the event by which `judgeInPlace` decides that something must be done: the
 * socket is gone, kubelet's status is lost, kubelet backs off from the path. Looks again at each hint of the file system, at
 * the end of kubelet's connection, and when a wait is over. What kubelet says makes another state, which looks anew.
 */
export async function watchOurSocket(
  state: InPlace,
  { options, socket, kubelet, watchAt, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  const socketPath = socketPathOf(state.facts, options);
  const [sinceMs, random] = [performance.now(), Math.random()];
  const watch = await watchAt(socketPath);
  /** A timer may be early by a millisecond. */
  let dueMs = 0;
  const stopListening = kubelet.onEnd(watch.hint);
  try {
    while (!signal.aborted) {
      const found = await socket.look(socketPath, signal);
      const hasDirectory = found === "ours" || (await socket.hasDirectory());
      if (signal.aborted) return undefined;
      const nowMs = Math.max(performance.now(), dueMs);
      const next = judgeInPlace(state, { found, hasDirectory, nowMs, sinceMs, random, kubelet });
      if (next.kind === "kubelet-silent") return moveFromBackoff(state, { options, log });
      if (next.kind === "status-lost")
        log.warn("Kubelet reported no registration status, publishing again", { check });
      if (next.kind !== "wait") return next;
      const isHinted = await watch.wait(signal, next.ms);
      dueMs = isHinted ? 0 : nowMs + next.ms;
    }
  } finally {
    stopListening();
  }
  return undefined;
}

/**
 * Kubelet backs off by path, up to 2 min 2 s, from a socket that it could not call: that a reboot left behind, or of a process
 * that was frozen. A new file there does not end that (goroutinemap's exponential backoff), another name does.
 */
function moveFromBackoff(
  { facts }: InPlace,
  { options, log }: Pick<RegistrationContext, "options" | "log">,
): LoopEvent {
  const alias = anotherAlias(facts, options);
  const was = socketPathOf(facts, options);
  if (alias === undefined)
    log.warn("Kubelet may back off from the socket, and its path has no room for another name", { was });
  else
    log.info("Kubelet has not called and may back off from the socket, publishing under another name", {
      was,
      now: socketPathOf({ ...facts, alias }, options),
    });
  return { kind: "kubelet-silent", alias };
}

/** Warns that kubelet has not called, and says what to check; less and less often. */
export async function remindOfSilence(
  state: InPlace,
  { options, server, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  if (stateNameOf(state) !== "listening") return undefined;
  const { pluginRegistrationPath: directory } = options;
  const isBusy = state.facts.backoff === "refuted";
  let waitedMs = 0;
  for (let line = 0; ; line++) {
    const waitMs = reminderMs(REMINDERS.kubeletSilent, line);
    if (!(await pause(waitMs, signal))) return undefined;
    waitedMs += waitMs;
    const real = await realPathOf(directory).catch(() => undefined);
    const place = real === undefined ? undefined : mountAt(real);
    log.warn("Kubelet has not called", {
      waited: `${waitedMs / 1000}s`,
      socketPath: socketPathOf(state.facts, options),
      check: isBusy
        ? BUSY_WITH_DRIVER
        : explainSilence(directory + onFileSystem(directory, place?.path), server.connections),
      ...UNHEARD,
    });
  }
}

/** Warns if kubelet sends no registration status for longer than it ever should need. */
export async function remindOfMissingStatus(
  { askedAtMs }: InPlace,
  { log }: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  if (askedAtMs === undefined || !(await pause(askedAtMs + KUBELET_BUSY_MS - performance.now(), signal)))
    return;
  const waited = `${KUBELET_BUSY_MS / 1000}s`;
  log.warn("Kubelet called GetInfo and has not reported a status", { waited, check });
}

const check = "kubelet's log, and whether the driver's NodeGetInfo answers";

/** Once the driver is registered, removes the dot-sockets that killed registrars left behind. */
export async function sweepWhenRegistered(
  state: InPlace,
  { options }: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  if (stateNameOf(state) === "registered") await sweepDotSockets(options.pluginRegistrationPath, signal);
}
