import { setTimeout as delay } from "node:timers/promises";
import { type ChildProcess, startChildProcess } from "../../test/support/child-process";

/** How long kubelet waits before it restarts a container for the nth time (0 is the first), in milliseconds. */
export function restartDelayMs(restart: number): number {
  // The first restart is at once, see doBackOff in kubelet's kuberuntime_manager.go; then 10 s, doubled up to 5 min.
  return restart === 0 ? 0 : Math.min(10_000 * 2 ** (restart - 1), 300_000);
}

/** A program that is restarted when it ends, whatever its exit code, as a container of a DaemonSet is. */
export interface Container extends AsyncDisposable {
  readonly restarts: number;
  /** Every line of its runs, stderr only. */
  log(): readonly string[];
  /** Resolves when a line has this text, be it long ago. */
  says(text: string): Promise<void>;
  /** SIGKILL, as the kernel's out-of-memory killer does: a crash like any other. */
  kill(): void;
  /** Its pod is deleted: SIGTERM, and no restart. Resolves when it ended. */
  delete(): Promise<void>;
}

/** Starts a container. What a real one needs to come up (runtime, mounts) takes no time here. */
export async function startContainer([program = "", ...words]: readonly string[]): Promise<Container> {
  const former: string[] = [];
  let restarts = 0;
  let current: ChildProcess = await startChildProcess(program, words, String);
  const deletion = new AbortController();
  const life = keepUp();

  async function keepUp(): Promise<void> {
    while (!deletion.signal.aborted) {
      await current.exited;
      await delay(restartDelayMs(restarts), undefined, { signal: deletion.signal }).catch(() => {});
      if (deletion.signal.aborted) return;
      former.push(...current.stderr.all());
      restarts += 1;
      current = await startChildProcess(program, words, String);
    }
    await current.close();
  }
  async function end(): Promise<void> {
    deletion.abort();
    await current.close();
    await life;
  }
  return {
    get restarts() {
      return restarts;
    },
    log: () => [...former, ...current.stderr.all()],
    says: async (text) => void (await current.stderr.waitFor((line) => line.includes(text))),
    kill: () => current.signal("SIGKILL"),
    delete: end,
    [Symbol.asyncDispose]: end,
  };
}
