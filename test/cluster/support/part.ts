import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";

export type Part = Awaited<ReturnType<typeof startPart>>;

/** A `command` that is a function is asked at each start; `programOf` leads from what was spawned to the program, its child. */
export async function startPart(
  command: readonly string[] | (() => readonly string[]),
  logFile: string,
  programOf: (spawned: number) => number = (spawned) => spawned,
) {
  let life = await live();

  async function live() {
    const [program = "", ...words] = typeof command === "function" ? command() : command;
    const log = openSync(logFile, "a");
    const child = spawn(program, words, { stdio: ["ignore", log, log] });
    closeSync(log);
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    await once(child, "spawn");
    return { child, exited };
  }
  function signal(name: NodeJS.Signals): void {
    const { pid = 0, exitCode, signalCode } = life.child;
    if (exitCode === null && signalCode === null) process.kill(programOf(pid), name);
  }
  /** Ends it at once, as the kernel's out-of-memory killer does; resolves when it is gone. */
  async function kill(): Promise<void> {
    signal("SIGKILL");
    await life.exited;
  }
  async function start(): Promise<void> {
    await life.exited;
    life = await live();
  }
  /** SIGTERM, and SIGKILL if that does not help within 10 s; resolves when it ended. */
  async function close(): Promise<void> {
    const forced = setTimeout(() => signal("SIGKILL"), 10_000);
    signal("SIGTERM");
    await life.exited;
    clearTimeout(forced);
  }
  return {
    lastWords: () => readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-15).join("\n"),
    get pid(): number {
      return life.child.pid ?? 0;
    },
    get exited(): Promise<void> {
      return life.exited;
    },
    kill,
    start,
    restart: () => kill().then(start),
    close,
    [Symbol.asyncDispose]: close,
  };
}
