import { writeFileSync } from "node:fs";

/** Kubelet reads no more than this from a termination log (kubelet's container manager, MaxContainerTerminationMessageLength). */
const MAX_BYTES = 4096;

/**
 * Leaves the reason of a failure where `kubectl describe pod` shows it. There is no such file outside a container, and
 * a reason that cannot be left is in the log anyway: failures are ignored, and no file is made where none was.
 */
export function writeTerminationLog(path: string, reason: string): void {
  try {
    writeFileSync(path, Buffer.from(`${reason}\n`).subarray(0, MAX_BYTES), { flag: "r+" });
  } catch {}
}
