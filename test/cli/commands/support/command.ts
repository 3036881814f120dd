import { LONGEST_LIFE_MS, spawnProcess } from "../../../support/child-process";
import { registrarCommand } from "../../../support/registrar-command";

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
  const [program, ...before] = registrarCommand();
  const child = spawnProcess(program, [...before, ...words], { env, lifeMs: LONGEST_LIFE_MS });
  const exitCode = async () => (await child.exited).code;
  return {
    pid: child.pid,
    lines: child.stdout.all(),
    get stderr() {
      return child.stderr.text();
    },
    line: (pattern) => child.stdout.waitFor((line) => pattern.test(line)),
    object: async (kind) => JSON.parse(await child.stdout.waitFor((line) => JSON.parse(line).kind === kind)),
    end: (signal) => {
      child.signal(signal);
      return exitCode();
    },
    exitCode,
    [Symbol.dispose]: () => child.signal("SIGKILL"),
  };
}
