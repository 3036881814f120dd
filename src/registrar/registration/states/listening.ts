import { REMINDERS, reminderMs } from "../../../base/backoff";
import { pause } from "../../../base/pause";
import { mountAt } from "../../../unix/file-calls";
import { realPathOf } from "../../../unix/files";
import { onFileSystem } from "../../../unix/mounts";
import { type StateOf, stateNameOf } from "../../model/state";
import { type RegistrationContext, socketPathOf } from "../context";
import { explainSilence } from "../hints";

/** Warns that kubelet has not called, and says what to check; less and less often. */
export async function remindOfSilence(
  state: StateOf<"in-place">,
  { options, server, log }: RegistrationContext,
  signal: AbortSignal,
): Promise<undefined> {
  if (stateNameOf(state) !== "listening") return undefined;
  const { pluginRegistrationPath: directory } = options;
  let waitedMs = 0;
  for (let line = 0; ; line++) {
    const waitMs = reminderMs(REMINDERS.kubeletSilent, line);
    if (!(await pause(waitMs, signal))) return undefined;
    waitedMs += waitMs;
    const place = mountAt(await realPathOf(directory));
    log.warn("Kubelet has not called", {
      waited: `${waitedMs / 1000}s`,
      socketPath: socketPathOf(state.facts, options),
      check: explainSilence(directory + onFileSystem(directory, place?.path), server.connections),
    });
  }
}
