import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** A process under measurement. Its output goes nowhere. */
export interface Measured extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with its exit code; null after a signal. */
  readonly exited: Promise<number | null>;
  kill(signal?: NodeJS.Signals): void;
}

/** Starts a program at once. Its disposal kills it. */
export function start([program = "", ...words]: readonly string[]): Measured {
  const child = spawn(program, words, { stdio: "ignore" });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const kill = (signal: NodeJS.Signals = "SIGKILL") => void child.kill(signal);
  return {
    pid: child.pid ?? 0,
    exited,
    kill,
    [Symbol.asyncDispose]: async () => {
      kill();
      await exited;
    },
  };
}

/** Runs a program to its end; resolves with the time that took, in milliseconds. Rejects unless it exits with 0. */
export async function timeOf(command: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const code = await start(command).exited;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`);
  return performance.now() - startedAt;
}

/** Anonymous memory in MB (2^20): what a process shares with no other. proc(5), smaps_rollup. */
export function anonymousMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(/^Anonymous: +(\d+) kB/m.exec(text)?.[1]) / 1024;
}

/** Milliseconds on a CPU of every thread that lives. proc(5), schedstat. */
export function cpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`);
  const ns = threads.map((file) => Number(textOf(file).split(" ")[0]));
  return ns.reduce((total, one) => total + one, 0) / 1e6;
}

/** How often a thread of the process, of those that live, gave up a CPU to wait. proc(5), status. */
export function wakeUpsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/status`);
  const counts = threads.map((file) =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(textOf(file))?.[1] ?? 0),
  );
  return counts.reduce((total, one) => total + one, 0);
}

/** Empty where the thread has ended meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
