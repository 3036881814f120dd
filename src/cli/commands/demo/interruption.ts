/**
 * Aborted by any signal that asks to end, and when nobody reads the story any more. A second signal changes nothing:
 * the actors are ended in seconds, and must be.
 */
export function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGQUIT", "SIGHUP"] as const) process.on(name, interrupt);
  process.stdout.on("error", interrupt);
  return controller.signal;
}
