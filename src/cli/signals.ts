const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT"] as const;

/**
 * One abort signal for the signals that ask to stop. The second one ends the process at once, with exit code 0: it only
 * cuts short the grace period for running calls, because the socket is removed first.
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
