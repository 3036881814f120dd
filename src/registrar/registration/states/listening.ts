import { REMINDERS, reminderMs } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import { fitsSocketPath } from "../../../unix/socket-path";
import type { LoopEvent, StateOf } from "../../model/state";
import { createAlias, fileNameOf } from "../../socket/socket-name";
import { type RegistrationContext, socketPathOf } from "../context";
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
  const alias = createAlias(fileNameOf(context.options.type, facts.driverName));
  const was = socketPathOf(facts, context);
  const now = socketPathOf({ ...facts, alias }, context);
  if (!(await pause(MOVE_AFTER_MS, signal))) return undefined;
  const log = context.log.named("listening");
  if (!fitsSocketPath(now)) {
    const message =
      "Kubelet backs off from the socket that was left behind, up to 2 min 2 s: no longer name fits";
    return void log.warn(message, { was });
  }
  const message = "Kubelet backs off from the socket that was left behind, publishing under another name";
  log.info(message, { was, now });
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
