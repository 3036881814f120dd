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
  /** Is called with a way to signal the command, as soon as it runs. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void;
}

/** A command that is not done by then hangs. */
const KILL_AFTER_MS = 25_000;

/** Runs a command to its end. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, meanwhile }: RunOptions,
): Promise<Finished> {
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: KILL_AFTER_MS,
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
