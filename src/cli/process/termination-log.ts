import { truncateSync, writeFileSync } from "node:fs";
import { attempt } from "../../base/errors";
import { escapeUnprintable } from "../../logging/escape";

/** Kubelet reads no more of a termination log (container manager, MaxContainerTerminationMessageLength). */
const MAX_BYTES = 4096;

/**
 * Writes the reason of a failure as one line where `kubectl describe pod` shows it. Ignores failures: outside a container
 * there is no such file, and the log has the reason. `create` makes a missing file; kubelet makes the default one.
 */
export function writeTerminationLog(path: string, reason: string, { create }: { create: boolean }): void {
  const line = Buffer.from(`${escapeUnprintable(reason)}\n`).subarray(0, MAX_BYTES);
  attempt(() => {
    if (!create) truncateSync(path);
    writeFileSync(path, line);
  });
}
