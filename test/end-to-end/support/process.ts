import { LONGEST_LIFE_MS, spawnProcess } from "../../support/child-process";
import { createHistory, PATIENCE_MS } from "../../support/history";
import { registrarCommand } from "../../support/registrar-command";
import { type LogLine, parseLogLine } from "./log-line";

/** How long to wait for anything: never part of what is tested. */
export const patience = (ms = PATIENCE_MS) => ({ signal: AbortSignal.timeout(ms) });

export interface LineOptions {
  readonly where?: (line: LogLine) => boolean;
  /** Which of those that fit, from the start of the process. @default 1 */
  readonly nth?: number;
}

export type CliProcess = ReturnType<typeof startCli>;

/** How the CLI is started where it is not by its file alone. */
export interface Launch {
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
) {
  const child = spawnProcess(command, [...words, ...args], { env, lifeMs: LONGEST_LIFE_MS });
  const log = createHistory<LogLine>(`the log of the registrar (${args.join(" ")})`);
  child.stderr.follow((text) => {
    const line = parseLogLine(text);
    if (line !== undefined) log.add(line);
  });
  void child.exited.then(({ code, signal }) => log.end(`it ended with ${signal ?? code}`));
  let isExpectedToEnd = false;

  /** Resolves with the line that has this message, now or as soon as it comes. */
  const line = (message: string, { where = () => true, nth = 1 }: LineOptions = {}) => {
    let count = 0;
    return log.waitFor((one) => one.message === message && where(one) && ++count === nth);
  };

  /** How it ended; by itself, or by a signal that the test sent. */
  const exit = async () => {
    isExpectedToEnd = true;
    return child.exited;
  };

  const send = (signal: NodeJS.Signals) => {
    if (pidOf === undefined) child.signal(signal);
    else if (child.exit() === undefined) process.kill(pidOf(child.pid), signal);
  };

  const stop = () => {
    send("SIGTERM");
    return exit();
  };

  return {
    pid: child.pid,
    /** Lines of its log so far, those with this message only. */
    lines: (message?: string): readonly LogLine[] =>
      log.all().filter((one) => message === undefined || one.message === message),
    line,
    /** Resolves when the log says that the registration came to this state, for the nth time. */
    reached: (state: string, nth = 1) =>
      line("Registration state changed", { where: ({ fields }) => fields.to === state, nth }),
    get stderr() {
      return child.stderr.text();
    },
    get stdout() {
      return child.stdout.text();
    },
    kill: (signal: NodeJS.Signals) => {
      isExpectedToEnd ||= signal !== "SIGSTOP" && signal !== "SIGCONT";
      send(signal);
    },
    exit,
    stop,
    [Symbol.asyncDispose]: async () => {
      if (child.exit() && !isExpectedToEnd)
        throw new Error(`the registrar ended unasked:\n${child.stderr.text()}`);
      if (child.exit()) return;
      try {
        send("SIGCONT");
        const { code } = await stop();
        if (code !== 0) throw new Error(`the registrar did not end well:\n${child.stderr.text()}`);
      } finally {
        child.signal("SIGKILL");
      }
    },
  };
}
