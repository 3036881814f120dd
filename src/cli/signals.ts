const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT"] as const;

/**
 * One abort signal for the signals that ask to stop. The second of them ends the process at once: with exit code 0,
 * as what it interrupts is only the grace given to running calls; the socket is removed first of all.
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
  return controller.signal;
}
