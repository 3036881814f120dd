import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { createHistory, type History } from "./history";

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A spawned program whose output is kept by line. Its stdin ends with this process, which ends our Go programs. */
export interface ChildProcess<T = string> extends AsyncDisposable {
  readonly pid: number;
  readonly stdout: History<T>;
  readonly stderr: History<string>;
  /** Resolves once it ended and all its output was read; never rejects. */
  readonly exited: Promise<Exit>;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly writeLine: (line: string) => void;
  /** SIGTERM, and SIGKILL if that does not help within 5 s; resolves when it ended. */
  readonly close: () => Promise<void>;
}

/** Resolves when the program runs, each line of whose stdout is parsed; rejects when it cannot be executed. */
export async function startChildProcess<T>(
  command: string,
  args: readonly string[],
  parse: (line: string) => T,
): Promise<ChildProcess<T>> {
  const child = spawn(command, args, { stdio: "pipe" });
  const stdout = createHistory<T>(`stdout of ${command}`);
  const stderr = createHistory<string>(`stderr of ${command}`);
  createInterface({ input: child.stdout }).on("line", (line) => stdout.add(parse(line)));
  createInterface({ input: child.stderr }).on("line", stderr.add);
  child.stdin.on("error", () => {}); // it ended before it read: `exited` tells

  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      stdout.end(`it ended with ${signal ?? code}, saying:\n${stderr.all().slice(-20).join("\n")}`);
      stderr.end(`it ended with ${signal ?? code}`);
      resolve({ code, signal });
    });
  });
  await once(child, "spawn");

  let closed: Promise<void> | undefined;
  async function end(): Promise<void> {
    child.kill("SIGTERM");
    const forced = setTimeout(() => child.kill("SIGKILL"), 5000);
    await exited;
    clearTimeout(forced);
  }
  const close = () => {
    closed ??= end();
    return closed;
  };
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    exited,
    signal: (signal) => void child.kill(signal),
    writeLine: (line) => void child.stdin.write(`${line}\n`),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** As {@link startChildProcess}, and resolves when a line says that the program is ready; else ends it and rejects. */
export async function startReadyProcess<T extends { readonly event: string }>(
  command: string,
  args: readonly string[],
): Promise<ChildProcess<T>> {
  const child = await startChildProcess<T>(command, args, JSON.parse);
  try {
    await child.stdout.waitFor(({ event }) => event === "started");
    return child;
  } catch (error) {
    await child.close();
    throw error;
  }
}
