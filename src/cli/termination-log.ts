import { closeSync, constants, openSync, writeSync } from "node:fs";
import { escapeUnprintable } from "../logging/escape";

/**
 * Kubelet reads no more than this from a termination log (kubelet's container manager,
 * MaxContainerTerminationMessageLength).
 */
const MAX_BYTES = 4096;

/**
 * Writes the reason of a failure as one line where `kubectl describe pod` shows it. Failures to write are ignored:
 * outside a container there is no such file, and the reason is in the log anyway. A missing file is created only with
 * `create`, because kubelet creates the default path.
 */
export function writeTerminationLog(
  path: string,
  reason: string,
  { create }: { readonly create: boolean },
): void {
  try {
    const file = openSync(
      path,
      constants.O_WRONLY | constants.O_TRUNC | (create ? constants.O_CREAT : 0),
      0o644,
    );
    try {
      writeSync(file, Buffer.from(`${escapeUnprintable(reason)}\n`).subarray(0, MAX_BYTES));
    } finally {
      closeSync(file);
    }
  } catch {}
}
