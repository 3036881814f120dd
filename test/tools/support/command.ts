import { LONGEST_LIFE_MS, spawnProcess } from "../../support/child-process";
import { registrarCommand } from "../../support/registrar-command";

export type RunningCommand = ReturnType<typeof startCommand>;

/** Starts a command of the built CLI that runs in the foreground. Its disposal kills it. */
export function startCommand(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const [program, ...before] = registrarCommand();
  const child = spawnProcess(program, [...before, ...words], { env, lifeMs: LONGEST_LIFE_MS });
  const exitCode = async () => (await child.exited).code;
  return {
    pid: child.pid,
    lines: child.stdout.all(),
    get stderr() {
      return child.stderr.text();
    },
    line: (pattern: RegExp) => child.stdout.waitFor((line) => pattern.test(line)),
    object: async (kind: string): Promise<Readonly<Record<string, unknown>>> =>
      JSON.parse(await child.stdout.waitFor((line) => JSON.parse(line).kind === kind)),
    end: (signal: NodeJS.Signals) => {
      child.signal(signal);
      return exitCode();
    },
    exitCode,
    [Symbol.dispose]: () => child.signal("SIGKILL"),
  };
}
