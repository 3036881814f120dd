import { listenOnly } from "../../signals";

/**
 * Aborted by any signal that asks to stop, and when stdout is closed. A second signal changes nothing: the actors
 * must be stopped first, which takes seconds.
 */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"] as const) listenOnly(name, interrupt);
  process.stdout.on("error", interrupt);
  return controller.signal;
}
