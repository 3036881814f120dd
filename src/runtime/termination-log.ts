import { truncateSync, writeFileSync } from "node:fs";
import { attempt } from "../base/errors";
import { escapeUnprintable } from "../logging/escape";

/** Kubelet reads no more of a termination log (container manager, MaxContainerTerminationMessageLength). */
const MAX_BYTES = 4096;
const LINE_FEED = Buffer.from("\n");

/** Writes one line where `kubectl describe pod` shows it. Ignores failures: the log has the reason. Kubelet makes the file. */
export function writeTerminationLog(path: string, reason: string, { create }: { create: boolean }): void {
  const line = Buffer.concat([Buffer.from(escapeUnprintable(reason)).subarray(0, MAX_BYTES - 1), LINE_FEED]);
  attempt(() => {
    if (!create) truncateSync(path);
    writeFileSync(path, line);
  });
}
