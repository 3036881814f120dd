import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { attempt } from "../../../base/errors";

/** How to start an actor. */
export interface ActorOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Called with each line of its output that is a JSON object. */
  readonly onTold: (told: object) => void;
  /** Called with every line of its output. */
  readonly onLine: (line: string) => void;
  /** Called when it is gone and its output is read; `isUnasked` where neither `stop` nor `kill` was called. */
  readonly onEnd: (how: string, isUnasked: boolean) => void;
}

/** One process on stage. */
export interface Actor {
  /** Sends SIGTERM, and SIGKILL after 3 s; resolves when the process is gone. */
  stop(): Promise<void>;
  /** Sends SIGKILL: a crash. */
  kill(): Promise<void>;
}

const GRACE_MS = 3_000;

/**
 * Starts a process that reports what it does as JSON lines. It has a process group of its own: Ctrl-C reaches only
 * the demo, which then stops its actors itself.
 */
export function startActor({ command, onTold, onLine, onEnd }: ActorOptions): Actor {
  const [program = "", ...words] = command;
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let isUnasked = true;
  const hear = (output: Readable) =>
    createInterface({ input: output }).on("line", (line) => {
      onLine(line);
      const told: unknown = attempt(() => JSON.parse(line));
      if (typeof told === "object" && told !== null) onTold(told);
    });
  hear(child.stdout);
  hear(child.stderr);

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
  return { stop: () => endBy("SIGTERM"), kill: () => endBy("SIGKILL") };
}
