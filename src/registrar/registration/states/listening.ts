import { REMINDERS, reminderMs } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import type { LoopEvent, StateOf } from "../../model/state";
import { anotherAlias, type RegistrationContext, socketPathOf } from "../context";
import { explainSilence } from "../hints";

/** Kubelet's reconcile loop runs each second: no call for this long, after a dead socket, means backoff. */
const MOVE_AFTER_MS = 2_500;

/**
 * State `listening`: kubelet backs off by path, up to 2 min 2 s, from a socket that a reboot left behind; a new file
 * under that path does not end it (goroutinemap's exponential backoff). So if we found a dead socket, and were never
 * registered, our socket moves once to another name.
 */
export async function moveFromBackoff(
  { facts }: StateOf<"listening">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<LoopEvent | undefined> {
  if (!facts.foundDeadSocket || facts.everRegistered || facts.hasMoved) return undefined;
  if (!(await pause(MOVE_AFTER_MS, signal))) return undefined;
  const log = context.log.named("listening");
  const alias = anotherAlias(facts, context);
  const was = socketPathOf(facts, context);
  if (alias === undefined)
    return void log.warn("Kubelet backs off from a socket whose path has no room for another name", { was });
  const message = "Kubelet backs off from the socket that was left behind, publishing under another name";
  log.info(message, { was, now: socketPathOf({ ...facts, alias }, context) });
  return { kind: "kubelet-silent", alias };
}

/** State `listening`: warns that kubelet has not called, and says what to check; less and less often. */
export async function remindOfSilence(
  { facts }: StateOf<"listening">,
  context: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  const log = context.log.named("listening");
  let waitedMs = 0;
  for (let line = 0; ; line++) {
    const waitMs = reminderMs(REMINDERS.kubeletSilent, line);
    if (!(await pause(waitMs, signal))) return undefined;
    waitedMs += waitMs;
    log.warn("Kubelet has not called", {
      waited: `${waitedMs / 1000}s`,
      socketPath: socketPathOf(facts, context),
      check: explainSilence(context.options.pluginRegistrationPath, context.server.connections),
    });
  }
}
