import { spawnProcess } from "../../support/child-process";

export type Finished = Awaited<ReturnType<typeof run>>;

export interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** When it is killed. @default 90 s: a command that is not done by then hangs */
  readonly withinMs?: number;
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void;
  readonly onLine?: (line: string) => void;
}

export async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {}, withinMs = 90_000, meanwhile, onLine }: RunOptions,
) {
  const child = spawnProcess(command, args, { cwd, env, lifeMs: withinMs });
  await child.spawned;
  meanwhile?.(child.signal);
  if (onLine) child.stdout.follow(onLine);
  const { code } = await child.exited;
  return { code, stdout: child.stdout.text(), stderr: child.stderr.text() };
}
