import { REMINDERS, reminderMs } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import { mountAt } from "../../../unix/file-calls";
import { realPathOf } from "../../../unix/files";
import { onFileSystem } from "../../../unix/mounts";
import type { LoopEvent, StateOf } from "../../model/state";
import { anotherAlias, type RegistrationContext, socketPathOf } from "../context";
import { movesFromBackoff } from "../decisions";
import { explainSilence } from "../hints";

/** Kubelet's reconcile loop runs each second: no call for this long, after a dead socket, means backoff. */
const MOVE_AFTER_MS = 2_500;

/** State `listening`: after a reboot, when kubelet backs off from the socket that was left behind, moves once to another name. */
export async function moveFromBackoff(
  { facts }: StateOf<"listening">,
  { options, server, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  if (!movesFromBackoff(facts, false) || !(await pause(MOVE_AFTER_MS, signal))) return undefined;
  // It still works on an earlier publication of ours.
  if (!movesFromBackoff(facts, server.hasCaller)) return undefined;
  const alias = anotherAlias(facts, options);
  const was = socketPathOf(facts, options);
  if (alias === undefined)
    return void log.warn("Kubelet backs off from the socket, and its path has no room for another name", {
      was,
    });
  const message = "Kubelet backs off from the socket that was left behind, publishing under another name";
  log.info(message, { was, now: socketPathOf({ ...facts, alias }, options) });
  return { kind: "kubelet-silent", alias };
}

/** State `listening`: warns that kubelet has not called, and says what to check; less and less often. */
export async function remindOfSilence(
  { facts }: StateOf<"listening">,
  { options, server, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  const { pluginRegistrationPath: directory } = options;
  let waitedMs = 0;
  for (let line = 0; ; line++) {
    const waitMs = reminderMs(REMINDERS.kubeletSilent, line);
    if (!(await pause(waitMs, signal))) return undefined;
    waitedMs += waitMs;
    const place = mountAt(await realPathOf(directory));
    log.warn("Kubelet has not called", {
      waited: `${waitedMs / 1000}s`,
      socketPath: socketPathOf(facts, options),
      check: explainSilence(directory + onFileSystem(directory, place?.path), server.connections),
    });
  }
}
