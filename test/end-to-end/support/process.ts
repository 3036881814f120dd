import { type Exit, LONGEST_LIFE_MS, spawnProcess } from "../../support/child-process";
import { createHistory, PATIENCE_MS } from "../../support/history";
import { registrarCommand } from "../../support/registrar-command";
import { type LogLine, parseLogLine } from "./log-line";

export type { Exit };

/** How long to wait for anything: never part of what is tested. */
export const patience = (ms = PATIENCE_MS) => ({ signal: AbortSignal.timeout(ms) });

export interface LineOptions {
  readonly where?: (line: LogLine) => boolean;
  /** Which of those that fit, from the start of the process. @default 1 */
  readonly nth?: number;
}

/** The built CLI as a process. */
export interface CliProcess extends AsyncDisposable {
  readonly pid: number;
  /** Lines of its log so far, those with this message only. */
  lines(message?: string): readonly LogLine[];
  /** Resolves with the line that has this message, now or as soon as it comes. */
  line(message: string, options?: LineOptions): Promise<LogLine>;
  /** Resolves when the log says that the registration came to this state, for the nth time. */
  reached(state: string, nth?: number): Promise<LogLine>;
  /** All of stderr, and of stdout, so far. */
  readonly stderr: string;
  readonly stdout: string;
  kill(signal: NodeJS.Signals): void;
  /** How it ended; by itself, or by a signal that the test sent. */
  exit(): Promise<Exit>;
  /** SIGTERM, and how it ended. */
  stop(): Promise<Exit>;
}

/** How the CLI is started where it is not by its file alone. */
export interface Launch {
  /** What comes before the arguments. */
  readonly command: readonly string[];
  /** Which process gets the signals, where it is not the one that was spawned. */
  readonly pidOf?: (spawned: number) => number;
}

/**
 * Spawns the registrar under test. Its disposal stops it and fails where it had ended unasked, or does not end with exit
 * code 0.
 */
export function startCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { command: [command = "", ...words], pidOf }: Launch = { command: registrarCommand() },
): CliProcess {
  const child = spawnProcess(command, [...words, ...args], { env, lifeMs: LONGEST_LIFE_MS });
  const log = createHistory<LogLine>(`the log of the registrar (${args.join(" ")})`);
  child.stderr.follow((text) => {
    const line = parseLogLine(text);
    if (line !== undefined) log.add(line);
  });
  child.exited.then(({ code, signal }) => log.end(`it ended with ${signal ?? code}`));
  let isExpectedToEnd = false;

  const line: CliProcess["line"] = (message, { where = () => true, nth = 1 } = {}) => {
    let count = 0;
    return log.waitFor((one) => one.message === message && where(one) && ++count === nth);
  };

  const exit = async () => {
    isExpectedToEnd = true;
    return child.exited;
  };

  const send = (signal: NodeJS.Signals) => {
    if (pidOf === undefined) child.signal(signal);
    else if (child.exit() === undefined) process.kill(pidOf(child.pid), signal);
  };

  const cli: CliProcess = {
    pid: child.pid,
    lines: (message) => log.all().filter((one) => message === undefined || one.message === message),
    line,
    reached: (state, nth = 1) =>
      line("Registration state changed", { where: ({ fields }) => fields.to === state, nth }),
    get stderr() {
      return child.stderr.text();
    },
    get stdout() {
      return child.stdout.text();
    },
    kill: (signal) => {
      isExpectedToEnd ||= signal !== "SIGSTOP" && signal !== "SIGCONT";
      send(signal);
    },
    exit,
    stop: () => {
      send("SIGTERM");
      return exit();
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exit() && !isExpectedToEnd) throw new Error(`the registrar ended unasked:\n${cli.stderr}`);
      if (child.exit()) return;
      try {
        send("SIGCONT");
        const { code } = await cli.stop();
        if (code !== 0) throw new Error(`the registrar did not end well:\n${cli.stderr}`);
      } finally {
        child.signal("SIGKILL");
      }
    },
  };
  return cli;
}
