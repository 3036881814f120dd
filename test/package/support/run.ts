import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** How a command ended, and all that it wrote. */
export interface Finished {
  /** Null where a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Environment variables beside ours. */
  readonly env?: NodeJS.ProcessEnv;
  /** When it is killed. @default 25 s: a command that is not done by then hangs */
  readonly withinMs?: number;
  /** Is called with a way to signal the command, as soon as it runs. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void;
}

/** Runs a command to its end. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {}, withinMs = 25_000, meanwhile }: RunOptions,
): Promise<Finished> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: withinMs,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  meanwhile?.((signal) => void child.kill(signal));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
