import { readdirSync } from "node:fs";
import { join } from "node:path";
import { startChildProcess } from "../../test/support/child-process";
import type { History } from "../../test/support/history";
import { askHttp, type HttpAnswer } from "../../test/support/http";
import { countInotifyWatches } from "../../test/support/resources";
import { anonymousMb } from "../support/processes";

/** A running registrar: a role's, its successor's or a peer's. */
export interface RegistrarProcess extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly log: History<string>;
  /** Whether its end was asked for, or came by itself. */
  readonly end: "none" | "asked" | "unasked";
  /** Its port, as soon as it listens. */
  readonly port: Promise<number>;
  get(path: string): Promise<HttpAnswer>;
  /** Resolves when the log has a line, from position `from` on, with all of these texts. */
  says(texts: readonly string[], from?: number): Promise<void>;
  /** SIGTERM; resolves when it ended, rejects unless it ended well. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  measure(): Promise<Holdings>;
}

/** What a process holds on to, after a garbage collection. */
export interface Holdings {
  readonly descriptors: number;
  readonly watches: number;
  /** Megabytes. */
  readonly heap: number;
  readonly anonymous: number;
}

/** Starts a registrar: `command` is the program and the words in front of its arguments. */
export async function startRegistrarProcess(
  name: string,
  command: readonly string[],
  args: readonly string[],
): Promise<RegistrarProcess> {
  const [node = "", ...words] = command;
  const collector = ["--require", join(__dirname, "collector.cjs")];
  const child = await startChildProcess<{ readonly heapUsed: number }>(
    node,
    [...collector, ...words, ...args],
    JSON.parse,
  );
  const log = child.stderr;
  let end: RegistrarProcess["end"] = "none";
  void child.exited.then(() => {
    if (end === "none") end = "unasked";
  });
  const says = async (texts: readonly string[], from = 0) =>
    void (await log.waitFor((line) => texts.every((text) => line.includes(text)), from));
  const port = log
    .waitFor((line) => line.includes('"HTTP server started"'))
    .then((line) => Number(/port=(\d+)/.exec(line)?.[1]));
  port.catch(() => {}); // each caller gets the rejection; a registrar that is killed early never listens
  let ending: Promise<void> | undefined;
  async function stop(): Promise<void> {
    end = "asked";
    await child.close();
    const { code, signal } = await child.exited;
    if (code !== 0) throw new Error(`${name} ended with ${signal ?? code} when it got SIGTERM`);
  }
  return {
    name,
    pid: child.pid,
    log,
    port,
    says,
    get end() {
      return end;
    },
    get: async (path) => askHttp(await port, path),
    stop: () => {
      ending ??= stop();
      return ending;
    },
    kill: async () => {
      end = "asked";
      child.signal("SIGKILL");
      await child.exited;
    },
    measure: async () => {
      const asked = child.stdout.all().length;
      child.signal("SIGWINCH");
      const { heapUsed } = await child.stdout.waitFor(() => true, asked);
      return {
        descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
        watches: countInotifyWatches(child.pid),
        heap: heapUsed / 2 ** 20,
        anonymous: anonymousMb(child.pid),
      };
    },
    [Symbol.asyncDispose]: child.close,
  };
}
