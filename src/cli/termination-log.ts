import { closeSync, constants, openSync, writeSync } from "node:fs";
import { escapeUnprintable } from "../logging/escape";

/** Kubelet reads no more than this from a termination log (kubelet's container manager, MaxContainerTerminationMessageLength). */
const MAX_BYTES = 4096;

/**
 * Leaves the reason of a failure, as one line, where `kubectl describe pod` shows it. There is no such file outside a container, and
 * a reason that cannot be left is in the log anyway: failures are ignored. A file that is missing is made only with
 * `create`: the default path is kubelet's to make.
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
