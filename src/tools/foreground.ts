import { RegistrarError } from "../base/errors";
import { LONGEST_WAIT_MS, pause } from "../base/pause";
import { abortOnSignals, STOP_SIGNALS } from "../runtime/signals";

/** Lets the kernel end the process at a signal, also while JavaScript is busy. Process 1 needs its handlers. */
export function endBySignals(): void {
  if (process.pid !== 1) for (const name of STOP_SIGNALS) process.removeAllListeners(name);
}

/** Aborted when a command in the foreground must end: by a signal, or because its stdout was closed. */
export function untilStopped(): AbortSignal {
  const unread = new AbortController();
  process.stdout.on("error", () => unread.abort());
  return AbortSignal.any([abortOnSignals(() => {}), unread.signal]);
}

/** Resolves when the signal is aborted; keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  while (await pause(LONGEST_WAIT_MS, signal));
}

export async function unlessStopped<Started>(starting: Promise<Started>): Promise<Started | undefined> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof RegistrarError && error.code === "ABORTED") return undefined;
    throw error;
  }
}
