import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export type Actor = ReturnType<typeof startActor>;

const GRACE_MS = 3_000;

/**
 * Starts a process. It has a process group of its own: Ctrl-C reaches only the demo, which then stops its actors itself.
 * `onEnd` is called when the process is gone and its output is read; `isUnasked`: without `stop` or `kill`.
 */
export function startActor(
  [program = "", ...words]: readonly string[],
  onLine: (line: string) => void,
  onEnd: (how: string, isUnasked: boolean) => void,
) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let isUnasked = true;
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", onLine);
  const gone = new Promise<void>((resolve) => {
    let problem: string | undefined;
    child.once("error", (error) => {
      problem = error.message;
    });
    // Emitted after an error too, and after the last line.
    child.once("close", (code, signal) => {
      onEnd(problem ?? signal ?? `exit code ${code}`, isUnasked);
      resolve();
    });
  });
  const endBy = async (signal: NodeJS.Signals) => {
    isUnasked = false;
    child.kill(signal);
    const force = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    await gone;
    clearTimeout(force);
  };
  return {
    /** Sends SIGTERM, as when a pod is deleted, and SIGKILL after 3 s; resolves when the process is gone. */
    stop: () => endBy("SIGTERM"),
    kill: () => endBy("SIGKILL"),
  };
}
