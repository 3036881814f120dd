import { RegistrarError } from "../base/errors";
import { LONGEST_WAIT_MS, pause } from "../base/pause";
import { abortOnSignals } from "./signals";

/** Aborted when a command in the foreground must end: by a signal, or because its stdout was closed. */
export function untilStopped(): AbortSignal {
  const unread = new AbortController();
  process.stdout.on("error", () => unread.abort());
  return AbortSignal.any([abortOnSignals(() => {}), unread.signal]);
}

/** Resolves when the signal is aborted, or after `ms` if that is more than 0; keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal, ms = 0): Promise<void> {
  do await pause(ms || LONGEST_WAIT_MS, signal);
  while (ms === 0 && !signal.aborted);
}

/** What was started, or undefined if it was stopped before. */
export async function unlessStopped<Started>(starting: Promise<Started>): Promise<Started | undefined> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof RegistrarError && error.code === "ABORTED") return undefined;
    throw error;
  }
}
