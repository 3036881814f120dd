import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "../../../support/eventually";

/** A process that outlived its test is killed after this long, whatever happened to the test. */
const LONGEST_LIFE_MS = 60_000;
const CLI = join(__dirname, "..", "..", "..", "..", "dist", "cli.js");

/** A command of the built CLI that runs in the foreground. Its disposal kills it. */
export interface RunningCommand extends Disposable {
  readonly pid: number;
  /** Lines of stdout so far. */
  readonly lines: readonly string[];
  readonly stderr: string;
  /** The first line of stdout that matches. */
  line(pattern: RegExp): Promise<string>;
  /** The first JSON line of this kind. */
  object(kind: string): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a signal and resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  exitCode(): Promise<number | null>;
}

export function startCommand(words: readonly string[], env: NodeJS.ProcessEnv = {}): RunningCommand {
  if (!existsSync(CLI)) throw new Error(`there is no ${CLI}: run npm run build first`);
  const child = spawn(process.execPath, [CLI, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    timeout: LONGEST_LIFE_MS,
    killSignal: "SIGKILL",
  });
  const lines: string[] = [];
  let stderr = "";
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  const find = (what: unknown, fits: (line: string) => boolean) =>
    eventually(() => {
      const line = lines.find(fits);
      if (line === undefined) throw new Error(`no ${what} in:\n${lines.join("\n")}\n${stderr}`);
      return line;
    });
  return {
    pid: child.pid ?? 0,
    lines,
    get stderr() {
      return stderr;
    },
    line: (pattern) => find(pattern, (line) => pattern.test(line)),
    object: async (kind) => JSON.parse(await find(kind, (line) => JSON.parse(line).kind === kind)),
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
    exitCode: () => exited,
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

/** Runs a command that ends by itself. */
export function runCommand(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...words], {
    encoding: "utf8",
    timeout: LONGEST_LIFE_MS,
  });
  return { status, stdout, stderr };
}
