import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createEventLog } from "../../../src/simulator/event-stream";
import { type LogLine, parseLogLine } from "./log-line";

/** Longer than anything takes on a busy machine, shorter than a test may take. */
const PATIENCE_MS = 20_000;
/** A process that outlived its test is killed after this long, whatever happened to the test. */
const LONGEST_LIFE_MS = 120_000;

/** How long to wait for anything: never part of what is tested. */
export const patience = (ms = PATIENCE_MS) => ({ signal: AbortSignal.timeout(ms) });

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LineOptions {
  readonly where?: (line: LogLine) => boolean;
  /** Which of those that fit, from the start of the process. @default 1 */
  readonly nth?: number;
  /** How long to wait at most, where that is longer than usual. */
  readonly withinMs?: number;
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

type Output = { readonly atMs: number } & (
  | { readonly kind: "line"; readonly line: LogLine }
  | { readonly kind: "exit"; readonly exit: Exit }
);

/** How the CLI is started where it is not by its file alone. */
export interface Launch {
  /** What comes before the arguments. */
  readonly command: readonly string[];
  /** Which process gets the signals, where it is not the one that was spawned. */
  readonly pidOf?: (spawned: number) => number;
}

/**
 * Spawns `dist/cli.js` or, to try the same on another registrar, the program in REGISTRAR_COMMAND (words separated by
 * spaces). Its disposal stops it and fails where it had ended unasked, or does not end with exit code 0.
 */
export function startCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { command: [command = "", ...words], pidOf }: Launch = {
    command: registrarCommand(),
  },
): CliProcess {
  const child = spawn(command, [...words, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    timeout: LONGEST_LIFE_MS,
    killSignal: "SIGKILL",
  });
  const output = createEventLog<Output>("the registrar");
  const lines: LogLine[] = [];
  const raw = { stdout: "", stderr: "" };
  let ended: Exit | undefined;
  let isExpectedToEnd = false;

  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw.stdout += text;
  });
  createInterface({ input: child.stderr }).on("line", (text) => {
    raw.stderr += `${text}\n`;
    const line = parseLogLine(text);
    if (line === undefined) return;
    lines.push(line);
    output.append({ kind: "line", line });
  });
  child.once("close", (code, signal) => {
    ended = { code, signal };
    output.append({ kind: "exit", exit: ended });
    output.end();
  });

  const inVain = (what: string) => (error: unknown) => {
    const said = raw.stderr.split("\n").slice(-30).join("\n");
    throw new Error(`the registrar (${args.join(" ")}): ${what} in vain; it said last:\n${said}`, {
      cause: error,
    });
  };

  const line: CliProcess["line"] = async (message, { where = () => true, nth = 1, withinMs } = {}) => {
    const fitting = () => lines.filter((one) => one.message === message && where(one));
    const past = fitting()[nth - 1];
    if (past) return past;
    const came = output.stream.when("line", {
      from: "now",
      where: () => fitting().length >= nth,
      ...patience(withinMs),
    });
    return (await came.catch(inVain(`waited for line ${nth} with "${message}"`))).line;
  };

  const exit = async () => {
    isExpectedToEnd = true;
    if (ended) return ended;
    return (await output.stream.when("exit", patience()).catch(inVain("waited for its end"))).exit;
  };

  const send = (signal: NodeJS.Signals) => {
    if (pidOf === undefined) child.kill(signal);
    else if (ended === undefined && child.pid !== undefined) process.kill(pidOf(child.pid), signal);
  };

  const cli: CliProcess = {
    pid: child.pid ?? 0,
    lines: (message) => lines.filter((one) => message === undefined || one.message === message),
    line,
    reached: (state, nth = 1) =>
      line("Registration state changed", { where: ({ fields }) => fields.to === state, nth }),
    get stderr() {
      return raw.stderr;
    },
    get stdout() {
      return raw.stdout;
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
      if (ended && !isExpectedToEnd) throw new Error(`the registrar ended unasked:\n${raw.stderr}`);
      if (ended) return;
      try {
        send("SIGCONT");
        const { code } = await cli.stop();
        if (code !== 0) throw new Error(`the registrar did not end well:\n${raw.stderr}`);
      } finally {
        child.kill("SIGKILL");
      }
    },
  };
  return cli;
}

/** The words that start the CLI. */
export function registrarCommand(): readonly string[] {
  const other = process.env.REGISTRAR_COMMAND?.trim();
  if (other) return other.split(/\s+/);
  const built = join(__dirname, "..", "..", "..", "dist", "cli.js");
  if (!existsSync(built)) throw new Error(`there is no ${built}: run npm run build first`);
  return [process.execPath, built];
}
