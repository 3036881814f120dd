import { readFileSync } from "node:fs";
import { attempt } from "../base/errors";

/** SIGHUP and SIGUSR2 would end the process without a word, and leave the registration socket behind. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR2"] as const;

/**
 * Ends the process at once at a signal, as nothing has begun that would have to be ended. Process 1 of a container, which
 * the registrar is in its image, does not get a signal at all while it has no handler for it (pid_namespaces(7)).
 * `exitCode` is that of a process which the signal ended where none is given. Holds until {@link abortOnSignals}.
 */
export function endOnSignals(exitCode?: number): void {
  for (const name of STOP_SIGNALS) {
    listenOnly(name, async () => {
      const { constants } = await import("node:os");
      process.exit(exitCode ?? 128 + constants.signals[name]);
    });
  }
}

/**
 * One abort signal for the signals that ask to stop. The second of them ends the process at once: with exit code 0,
 * as what it interrupts is only the grace given to running calls; the socket is removed first of all.
 *
 * SIGUSR1 is ignored: Node would open its inspector, a door into a process that is root's.
 */
export function abortOnSignals(onSignal: (name: string) => void): AbortSignal {
  const controller = new AbortController();
  for (const name of STOP_SIGNALS) {
    listenOnly(name, () => {
      if (controller.signal.aborted) process.exit(0);
      onSignal(name);
      controller.abort();
    });
  }
  process.on("SIGUSR1", () => {});
  return controller.signal;
}

/**
 * Lets the kernel end the process at a signal, also while JavaScript is busy: for work that leaves nothing behind. Process 1
 * of a container keeps its handlers, as the kernel drops a signal for which it has none.
 */
export function endBySignals(): void {
  if (process.pid !== 1) for (const name of STOP_SIGNALS) process.removeAllListeners(name);
}

const SIGTERM = 15;

/**
 * Whether SIGTERM came while Node itself started, which takes a second under a CPU limit. Node catches it from then on, by
 * a handler that lets go of it and raises it again (node.cc, SignalExit): that ends any process but process 1. To be
 * asked before we catch it.
 */
export function missedSigterm(): boolean {
  if (process.pid !== 1) return false;
  const status = attempt(() => readFileSync("/proc/self/status", "latin1")) ?? "";
  const [, caught] = /^SigCgt:\s*(\w+)/m.exec(status) ?? [];
  return caught !== undefined && (BigInt(`0x${caught}`) >> BigInt(SIGTERM - 1)) % 2n === 0n;
}

/** In place of who listened before. Node drops a signal that is on its way when for a moment nobody listens. */
export function listenOnly(name: NodeJS.Signals, listener: () => void): void {
  const former = process.rawListeners(name) as (() => void)[];
  process.on(name, listener);
  for (const one of former) process.off(name, one);
}
