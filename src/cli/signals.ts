/** SIGHUP and SIGUSR2 would end the process without a word, and leave the registration socket behind. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR2"] as const;

/**
 * One abort signal for the signals that ask to stop. The second of them ends the process at once: with exit code 0,
 * as what it interrupts is only the grace given to running calls; the socket is removed first of all.
 *
 * SIGUSR1 is ignored: Node would open its inspector, a door into a process that is root's.
 */
export function abortOnSignals(onSignal: (name: string) => void): AbortSignal {
  const controller = new AbortController();
  for (const name of STOP_SIGNALS) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(0);
      onSignal(name);
      controller.abort();
    });
  }
  process.on("SIGUSR1", () => {});
  return controller.signal;
}
