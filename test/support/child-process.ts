import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { createHistory } from "./history";

/** A process that outlived its test is killed after this long, whatever happened to the test. */
export const LONGEST_LIFE_MS = 180_000;
const GRACE_MS = 5_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Output<T = string> = ReturnType<typeof readOutput<T>>;

/** A spawned program whose output is kept. Its stdin ends with this process, which ends our Go programs. */
export type ChildProcess<T = string> = ReturnType<typeof spawnParsed<T>>;

interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** When it is killed. @default never */
  readonly lifeMs?: number;
}

export function spawnProcess(command: string, args: readonly string[], options: SpawnOptions = {}) {
  return spawnParsed(command, args, String, options);
}

function spawnParsed<T>(
  command: string,
  args: readonly string[],
  parse: (line: string) => T,
  { cwd, env, lifeMs }: SpawnOptions = {},
) {
  const child = spawn(command, args, {
    stdio: "pipe",
    cwd,
    env: { ...process.env, ...env },
    timeout: lifeMs,
    killSignal: "SIGKILL",
  });
  const stdout = readOutput(child.stdout, `stdout of ${command}`, parse);
  const stderr = readOutput(child.stderr, `stderr of ${command}`, String);
  child.stdin.on("error", () => {}); // It ended before it read; `exited` resolves.
  const spawned = once(child, "spawn").then(() => {});
  spawned.catch(() => {}); // The caller may not wait for it.

  let ended: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      ended = { code, signal };
      stdout.end(`it ended with ${signal ?? code}, saying:\n${stderr.all().slice(-20).join("\n")}`);
      stderr.end(`it ended with ${signal ?? code}`);
      resolve(ended);
    });
  });

  /** SIGTERM, and SIGKILL if that does not help within 5 s; resolves when it ended. */
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    const forced = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    await exited;
    clearTimeout(forced);
  };
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    spawned,
    /** Resolves once it ended and all its output was read; never rejects. */
    exited,
    exit: () => ended,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** Ends it at once; resolves when it is gone. */
    kill: async (): Promise<void> => {
      child.kill("SIGKILL");
      await exited;
    },
    writeLine: (line: string) => void child.stdin.write(`${line}\n`),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function readOutput<T>(stream: Readable, name: string, parse: (line: string) => T) {
  const history = createHistory<T>(name);
  let text = "";
  stream.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  createInterface({ input: stream }).on("line", (line) => history.add(parse(line)));
  return {
    ...history,
    text: () => text,
  };
}

/** Resolves when the program runs, each line of whose stdout is parsed; rejects when it cannot be executed. */
export async function startChildProcess<T>(
  command: string,
  args: readonly string[],
  parse: (line: string) => T,
): Promise<ChildProcess<T>> {
  const child = spawnParsed(command, args, parse);
  await child.spawned;
  return child;
}

export interface RunOptions extends SpawnOptions {
  readonly meanwhile?: (child: ChildProcess) => void;
}

export type Finished = Awaited<ReturnType<typeof run>>;

/** Runs a command to its end. One that is not done within 90 s hangs, unless `lifeMs` says otherwise: it is killed. */
export async function run(
  command: string,
  args: readonly string[],
  { meanwhile, ...options }: RunOptions = {},
) {
  const child = spawnProcess(command, args, { lifeMs: 90_000, ...options });
  await child.spawned;
  meanwhile?.(child);
  const { code } = await child.exited;
  return { code, stdout: child.stdout.text(), stderr: child.stderr.text() };
}

/** What it is given, or an error with what the command had to say. */
export function succeeded(finished: Finished): Finished {
  if (finished.code !== 0)
    throw new Error(`exit code ${finished.code}: ${finished.stdout}${finished.stderr}`);
  return finished;
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
