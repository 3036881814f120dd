import { readFileSync } from "node:fs";
import { attempt } from "../base/errors";
import { someCallHangs, untilCallsSettle } from "../unix/file-calls";

/** A registration socket is removed this soon after the signal to stop, unless its file system hangs. */
const REMOVED_WITHIN_MS = 250;

/** Without a handler, SIGHUP and SIGUSR2 would end the process and leave the registration socket behind. */
export const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR2"] as const;

/** Ends the process as soon as it is known which file calls hang: within 2 s, mostly at once. */
export async function endProcess(code: number): Promise<never> {
  await untilCallsSettle();
  return endNow(code);
}

/**
 * Ends the process. `process.exit` waits for Node's threads, and would never return while one waits for a file system that
 * does not answer: execve(2) ends the threads, before Node 22.15 only SIGKILL does.
 */
export function endNow(code: number): never {
  if (someCallHangs()) {
    const { execPath, execve }: { execPath: string; execve?: (file: string, args: string[]) => void } =
      process;
    execve?.(execPath, [execPath, "--eval", `process.exit(${code})`]);
    process.kill(process.pid, "SIGKILL");
  }
  process.exit(code);
}

/**
 * Ends the process at once at a signal, with the exit code of a process that the signal ended. Holds until
 * {@link abortOnSignals}; nothing waits between a registrar's first line and that. Process 1 of a container gets only signals that it handles (pid_namespaces(7)).
 */
export function endOnSignals(): void {
  for (const name of STOP_SIGNALS) {
    listenOnly(name, () => {
      import("node:os").then(
        ({ constants }) => endProcess(128 + constants.signals[name]),
        () => endProcess(1),
      );
    });
  }
}

/**
 * One abort signal for the signals that ask to stop. The second of them ends the process 250 ms later, with exit code 0: it
 * interrupts the grace given to running calls, not the removal of the socket, which takes milliseconds.
 */
export function abortOnSignals(onSignal: (name: string) => void): AbortSignal {
  const controller = new AbortController();
  for (const name of STOP_SIGNALS) {
    listenOnly(name, () => {
      if (controller.signal.aborted) return void setTimeout(endProcess, REMOVED_WITHIN_MS, 0);
      onSignal(name);
      controller.abort();
    });
  }
  return controller.signal;
}

const SIGTERM = 15;

/**
 * Whether SIGTERM came while Node started, which takes a second under a CPU limit. Node's own handler (node.cc,
 * SignalExit) removes itself and raises the signal again, which ends any process but process 1. Call before catching it.
 */
export function missedSigterm(): boolean {
  if (process.pid !== 1) return false;
  const status = attempt(() => readFileSync("/proc/self/status", "latin1")) ?? "";
  const [, caught] = /^SigCgt:\s*(\w+)/m.exec(status) ?? [];
  return caught !== undefined && (BigInt(`0x${caught}`) >> BigInt(SIGTERM - 1)) % 2n === 0n;
}

/** Replaces all listeners, the new one first: without a listener Node drops a signal. */
export function listenOnly(name: NodeJS.Signals, listener: () => void): void {
  const former = process.rawListeners(name) as (() => void)[];
  process.on(name, listener);
  for (const one of former) process.off(name, one);
}
