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

/** What a process holds, in MB (2^20). */
export interface Memory {
  readonly rss: number;
  /** Its share of what it shares with others. */
  readonly pss: number;
  readonly anonymous: number;
}

/** What a process did since it started. */
export interface Work {
  /** On a CPU, all threads. */
  readonly cpuMs: number;
  /** The same as `top` sees it, in hundredths of a second. */
  readonly ticks: number;
  readonly contextSwitches: number;
}

/** Starts a program at once. Its disposal kills it. */
export function start([program = "", ...words]: readonly string[], env: NodeJS.ProcessEnv = {}): Measured {
  const child = spawn(program, words, { stdio: "ignore", env: { ...process.env, ...env } });
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

/** proc(5), smaps_rollup. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const megabytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1]) / 1024;
  return { rss: megabytes("Rss"), pss: megabytes("Pss"), anonymous: megabytes("Anonymous") };
}

/** proc(5), stat of the process, status and schedstat of every thread that lives. */
export function workOf(pid: number): Work {
  // Behind the name, which may have spaces, fields 14 and 15 are user and system time.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  return {
    cpuMs: sum(threads.map((thread) => Number(textOf(`${thread}/schedstat`).split(" ")[0]))) / 1e6,
    ticks: Number(fields[11]) + Number(fields[12]),
    contextSwitches: sum(
      threads
        .flatMap((thread) => [...textOf(`${thread}/status`).matchAll(/ctxt_switches:\t(\d+)/g)])
        .map(([, count]) => Number(count)),
    ),
  };
}

/** Empty where the thread has ended meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** What several processes hold together. */
export function totalMemory(pids: readonly number[]): Memory {
  const each = pids.map(memoryOf);
  return {
    rss: sum(each.map(({ rss }) => rss)),
    pss: sum(each.map(({ pss }) => pss)),
    anonymous: sum(each.map(({ anonymous }) => anonymous)),
  };
}

/** What several processes did together. */
export function totalWork(pids: readonly number[]): Work {
  const each = pids.map(workOf);
  return {
    cpuMs: sum(each.map(({ cpuMs }) => cpuMs)),
    ticks: sum(each.map(({ ticks }) => ticks)),
    contextSwitches: sum(each.map(({ contextSwitches }) => contextSwitches)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
